package upstreamerror

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// The maximum size of an error body that is parsed, and of a payload excerpt quoted in a message.
const (
	maxErrorBodyBytes  = 1 << 20
	maxErrorQuoteBytes = 4 << 10
)

// details contains the parts of an upstream error. Empty strings become null in the response.
type details struct {
	message, typ, param, code string

	extra   []llm.Param // other members of its error object, unchanged
	context bool        // the conversation is too long for the model
}

// Failure is an error response of a provider.
type Failure struct {
	Shape    string       // shape of the provider's errors: "openai", "cohere"; an unknown one is read as "openai"
	Provider string       // "groq"
	Endpoint llm.Endpoint // called endpoint; empty where it does not matter
	Status   int
	Type     string // error type from a header, used if the body has none: "ThrottlingException"
	Body     []byte
	Request  string // id of the caller's request, for messages; empty: omitted
}

// Normalised returns the error in the one shape that callers of the unified routes receive:
//
//	{"error":{"message":"groq error: …","type":…,"param":…,"code":…},"provider":"groq"}
//
// A code is a string or null, even if the provider's code is a number. A conversation that is too
// long for the model has the code context_length_exceeded. Other members of the provider's error
// object follow these four, up to 8 KiB. An unrecognised body is quoted, up to 4 KiB: "Invalid
// response received from groq: …". Bodies with status 408 or 412 are returned unchanged, because
// the gateway wrote them.
// Source: contract/dataplane.md 7.2, contract/providers.yaml error_shapes.
func (f Failure) Normalised() []byte {
	if f.Status == 408 || f.Status == 412 {
		return f.Body
	}
	d := f.details()
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("error").Open('{')
	w.StrOrNull("code", d.code)
	w.Str("message", d.message)
	w.StrOrNull("param", d.param)
	w.StrOrNull("type", d.typ)
	w.Params(d.extra)
	w.Close('}')
	w.Str("provider", f.Provider)
	w.Close('}')
	return w.B
}

// Summary returns the message of the error, which names the provider, and its code. Without a
// code it returns the type. Example: "groq error: no such model" and "model_not_found".
func (f Failure) Summary() (message, code string) {
	d := f.details()
	return d.message, cmp.Or(d.code, d.typ)
}

// ForMessages is Normalised for callers of messages, whose clients expect another shape:
// {"type":"error","error":{"type":…,"message":…},"request_id":…,"provider":"groq"}. An error from
// Anthropic keeps its type. Other errors get the type of their status, because equal names have
// different meanings: OpenAI's "invalid_request_error" can be an invalid key, too. The code, the
// parameter and other members of the provider's error object follow. An example is Anthropic's
// details, which clients use to choose their reaction. For a conversation that is too long for
// the model, the message uses Anthropic's wording.
// Source: contract/provider-transforms.md 2.6; https://docs.anthropic.com/en/api/errors, read 2026-11.
func (f Failure) ForMessages() []byte {
	d := f.details()
	switch isAnthropic := f.anthropics(); {
	case d.context:
		d.message = d.tooLong(f.Provider)
		d.typ = "invalid_request_error"
	case !isAnthropic || !strings.HasSuffix(d.typ, "_error") && d.typ != "request_too_large":
		d.typ = MessagesTypeOf(f.Status)
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", "error")
	w.Key("error").Open('{')
	w.Str("type", d.typ)
	w.Str("message", d.message)
	w.Opt("code", d.code)
	w.Opt("param", d.param)
	w.Params(d.extra)
	w.Close('}')
	w.Opt("request_id", f.Request)
	w.Str("provider", f.Provider)
	w.Close('}')
	return w.B
}

// anthropics reports whether the error has Anthropic's format, regardless of the provider.
func (f Failure) anthropics() bool {
	return len(f.Body) <= maxErrorBodyBytes && jsonedit.Valid(f.Body) && jsonedit.Text(f.Body, "type") == "error"
}

// details parses the error. The message names the provider.
func (f Failure) details() details {
	d, ok := readDetails(f.Shape, f.Status, f.Body)
	if !ok || d.message == "" {
		return details{message: "Invalid response received from " + f.Provider + ": " + quoteBody(f.Status, f.Body), typ: f.Type}
	}
	d.typ = cmp.Or(d.typ, f.Type)
	d.extra = Extra(unwrapped(f.Body))
	if d.context = conversing[f.Endpoint] && d.aboutContext(f.Status); d.context {
		d.code = ContextCode
	}
	d.message = f.Provider + " error: " + d.message
	return d
}

// MessagesTypes are Anthropic's error types.
// Source: contract/provider-transforms.md 2.4; https://docs.anthropic.com/en/api/errors, read 2026-11.
var MessagesTypes = map[string]bool{
	"invalid_request_error": true, "authentication_error": true, "billing_error": true, "permission_error": true, "not_found_error": true,
	"request_too_large": true, "rate_limit_error": true, "api_error": true, "timeout_error": true, "overloaded_error": true,
}

func MessagesTypeOf(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 504, 408:
		return "timeout_error"
	case 529, 503:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// readDetails tries the provider's shape first. Then it tries the shapes of proxies in front of
// providers and of self-hosted servers. It accepts a code in every shape, as a string or a
// number.
func readDetails(shape string, status int, body []byte) (details, bool) {
	if len(body) > maxErrorBodyBytes {
		return details{}, false
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil || dec.More() {
		if shape == "html" && len(bytes.TrimSpace(body)) > 0 {
			return details{message: Clip(string(body), maxErrorQuoteBytes), code: strconv.Itoa(status)}, true
		}
		return details{}, false
	}
	m, ok := firstOf(v).(map[string]any)
	if !ok {
		return details{}, false
	}
	for _, name := range [...]string{shape, "openai", "flat", "detail", "error_text"} {
		read, known := shapes[name]
		if !known {
			continue
		}
		if d := read(m); d.message != "" {
			if d.code == statusCode {
				d.code = strconv.Itoa(status)
			}
			d.code = cmp.Or(d.code, text(inner(m)["code"]), text(m["code"]))
			return d, true
		}
	}
	return details{}, false
}

// firstOf unwraps an error from a list with one element, as Google's hosts send it.
func firstOf(v any) any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return v
}

// quoteBody formats a body for a message. JSON is compacted; any other body becomes
// {"html-message":"…"}. Both are cut to maxErrorQuoteBytes. For an empty body it returns the
// status.
func quoteBody(status int, body []byte) string {
	text := bytes.TrimSpace(body)
	if len(text) == 0 {
		return fmt.Sprintf("empty body with status %d", status)
	}
	if len(text) <= maxErrorBodyBytes && json.Valid(text) {
		var short bytes.Buffer
		if json.Compact(&short, text) == nil {
			text = short.Bytes()
		}
		return Clip(string(text), maxErrorQuoteBytes)
	}
	b, _ := json.Marshal(map[string]string{"html-message": Clip(strings.ToValidUTF8(string(text[:min(len(text), maxErrorQuoteBytes)]), ""), maxErrorQuoteBytes)})
	return string(b)
}
