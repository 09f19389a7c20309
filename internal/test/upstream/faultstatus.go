package upstream

import (
	"net/http"
	"strconv"
	"time"
)

// statusFaults answer well-formed refusals.
var statusFaults = map[string]fault{
	"status": {does: "answers status @ (500) with OpenAI's error body", def: argument{n: 500}, make: func(_ Response, a argument) Response {
		return statusResponse(a.n)
	}},
	"plain-status": {does: "answers status @ (502) with plain text", def: argument{n: 502}, make: func(_ Response, a argument) Response {
		return Text(a.n, "text/plain", "upstream connect error or disconnect/reset before headers")
	}},
	"html-status": {does: "answers status @ (502) with a web page", def: argument{n: 502}, make: func(_ Response, a argument) Response {
		return Text(a.n, "text/html", page)
	}},
	"empty-status": {does: "answers status @ (503) without a body", def: argument{n: 503}, make: func(_ Response, a argument) Response {
		return Response{Status: a.n}
	}},
	"shape": {does: "answers 400 with the error body of @ (anthropic); see errorShapes", def: argument{text: "anthropic"}, make: func(_ Response, a argument) Response {
		return JSON(http.StatusBadRequest, []byte(errorShapes[a.text]))
	}},
	"retry-after": {does: "answers 429 with retry-after: @ seconds (1)", def: argument{n: 1}, make: func(_ Response, a argument) Response {
		return statusResponse(429).with(Field{"Retry-After", strconv.Itoa(a.n)})
	}},
	"retry-after-ms": {does: "answers 429 with retry-after-ms: @ (100)", def: argument{n: 100}, make: func(_ Response, a argument) Response {
		return statusResponse(429).with(Field{"Retry-After-Ms", strconv.Itoa(a.n)})
	}},
	"x-ms-retry-after-ms": {does: "answers 429 with x-ms-retry-after-ms: @ (100)", def: argument{n: 100}, make: func(_ Response, a argument) Response {
		return statusResponse(429).with(Field{"x-ms-retry-after-ms", strconv.Itoa(a.n)})
	}},
	"retry-after-date": {does: "answers 429 with a retry-after date @ seconds (2) ahead", def: argument{n: 2}, make: func(_ Response, a argument) Response {
		date := time.Now().Add(time.Duration(a.n) * time.Second).UTC().Format(http.TimeFormat)
		return statusResponse(429).with(Field{"Retry-After", date})
	}},
	"retry-after-bad": {does: "answers 429 with a retry-after that is no number", make: func(Response, argument) Response {
		return statusResponse(429).with(Field{"Retry-After", "soon"})
	}},
	"redirect": {does: "answers 302 to @", def: argument{text: "http://169.254.169.254/latest/meta-data/"}, make: func(_ Response, a argument) Response {
		return Text(http.StatusFound, "text/plain", "moved").with(Field{"Location", a.text})
	}},
}

const page = "<!doctype html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n"

// statusResponse is OpenAI's error of a status.
func statusResponse(status int) Response {
	switch status {
	case 400:
		return OpenAIError(status, "invalid_request_error", "invalid_value", "Invalid value: 'robot'.")
	case 401:
		return OpenAIError(status, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
	case 404:
		return OpenAIError(status, "invalid_request_error", "model_not_found", "The model does not exist.")
	case 429:
		return OpenAIError(status, "requests", "rate_limit_exceeded", "Rate limit reached.")
	}
	return OpenAIError(status, "server_error", "server_error", "The server had an error while processing your request.")
}

// errorShapes is error bodies of other providers, by a short name.
// Source: contract/providers.yaml, error_shapes.
var errorShapes = map[string]string{
	"anthropic":    `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: required"}}`,
	"google":       `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[]}}`,
	"google-array": `[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]`,
	"cohere":       `{"id":"7e1f","message":"invalid request: message must be at least 1 token long"}`,
	"flat":         `{"object":"error","message":"Invalid model","type":"invalid_model","param":null,"code":"1500"}`,
	"detail":       `{"detail":"Not authenticated"}`,
	"detail-list":  `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}`,
	"error-string": `{"error":"model is overloaded"}`,
	"aws":          `{"message":"The provided model identifier is invalid."}`,
	"fireworks":    `{"fault":{"faultstring":"Invalid ApiKey","detail":{"errorcode":"oauth.v2.InvalidApiKey"}}}`,
	"cloudflare":   `{"success":false,"errors":[{"code":7009,"message":"Upstream error"}],"messages":[],"result":null}`,
	"stability":    `{"id":"a1","name":"bad_request","errors":["prompt: required","size: invalid"]}`,
	"oci":          `{"code":"InvalidParameter","message":"model is required"}`,
	"xai":          `{"error":"Incorrect API key","code":"Client specified an invalid argument"}`,
	"unknown":      `{"oops":[1,2,3]}`,
}
