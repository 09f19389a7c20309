package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect/upstreamerror"
)

// tooLongErrors are what servers answer to a conversation that is too long for the model.
// Source: their documentation and source, read 2026-11.
var tooLongErrors = map[string]struct {
	shape  string
	status int
	body   string
}{
	"OpenAI":         {"openai", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
	"OpenAI, new":    {"openai", 400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`},
	"Anthropic":      {"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`},
	"Anthropic, max": {"anthropic", 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again\"}}"},
	"Bedrock":        {"aws", 400, `{"message":"Input is too long for requested model."}`},
	"Gemini":         {"google", 400, `{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}`},
	"Mistral":        {"flat", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt","code":"3051"}`},
	"xAI":            {"xai", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`},
	"Groq":           {"openai_code_str", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
	"Kimi":           {"flat", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072","type":"invalid_request_error"}}`},
	"llama.cpp":      {"openai", 400, `{"error":{"code":400,"message":"request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5012,"n_ctx":4096}}`},
	"llama.cpp, old": {"openai", 500, `{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}`},
	"vLLM":           {"openai", 400, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.","type":"BadRequestError","param":null,"code":400}}`},
	"vLLM, old":      {"openai", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`},
	"SGLang":         {"openai", 400, `{"object":"error","message":"The input (5012 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError","param":null,"code":400}`},
	"TGI":            {"openai", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`\",\"error_type\":\"validation\"}"},
	"LM Studio":      {"openai", 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}`},
	"LM Studio, new": {"openai", 400, `{"error":{"message":"Trying to keep the first 5012 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}}`},
	"Ollama":         {"openai_msg_type", 400, `{"error":{"message":"prompt too long; exceeded max context length by 916 tokens","type":"invalid_request_error","param":null,"code":null}}`},
	"GitHub Models":  {"openai", 413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`},
	"DashScope":      {"openai", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}`},
	"Zhipu":          {"openai", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`},
	"behind a proxy": {"openai", 400, `{"detail":"{\"error\":{\"code\":400,\"message\":\"request (5012 tokens) exceeds the available context size (4096 tokens)\",\"type\":\"exceed_context_size_error\"}}"}`},
}

// A conversation that is too long has one code, and on messages Anthropic's words, whatever its
// provider calls it.
func TestContextErrorsHaveOneCode(t *testing.T) {
	t.Parallel()
	for name, c := range tooLongErrors {
		f := upstreamerror.Failure{Shape: c.shape, Provider: "p", Status: c.status, Body: []byte(c.body)}
		for surface, body := range map[string][]byte{"chat": f.Normalised(), "messages": f.ForMessages()} {
			var got struct {
				Error struct{ Message, Type, Code string }
			}
			if err := json.Unmarshal(body, &got); err != nil || got.Error.Code != "context_length_exceeded" || !strings.HasPrefix(got.Error.Message, "p error: ") {
				t.Errorf("%s on %s: %s (%v)", name, surface, body, err)
			}
			if surface == "messages" && (!strings.Contains(got.Error.Message, "prompt is too long") || got.Error.Type != "invalid_request_error") {
				t.Errorf("%s on messages: %s", name, body)
			}
		}
	}
	body := string(upstreamerror.Failure{Shape: "openai", Provider: "llama-cpp", Status: 400, Body: []byte(tooLongErrors["llama.cpp"].body)}.ForMessages())
	if !strings.Contains(body, `"message":"llama-cpp error: prompt is too long: 5012 tokens > 4096 maximum: request (5012 tokens)`) {
		t.Errorf("without the numbers: %s", body)
	}
}

// Other errors keep their own code.
func TestOtherErrorsKeepTheirCode(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{
		429: `{"error":{"message":"Too many tokens, please wait before trying again.","code":"throttled"}}`,
		413: `{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000, context window","code":"throttled"}}`,
		400: `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens","code":"throttled"}}`,
	} {
		if got := string(upstreamerror.Failure{Shape: "openai", Provider: "p", Status: status, Body: []byte(body)}.Normalised()); !strings.Contains(got, `"code":"throttled"`) {
			t.Errorf("%d: %s", status, got)
		}
	}
}

// What a provider adds inside its error object travels along on both shapes, within bounds, and
// cannot replace the fields of the shape.
func TestErrorFieldsTravelAlong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shape, body, want string }{
		{"openai", `{"error":{"message":"m","type":"t","n_ctx":4096,"metadata":{"raw":"x","n":1e400}},"user_id":"u"}`, `"n_ctx":4096,"metadata":{"raw":"x","n":1e400}`},
		{"google", `[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"}]}}]`, `"status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"}]`},
		{"flat", `{"object":"error","message":"m","type":"t","raw_status_code":422}`, `"raw_status_code":422`},
		{"openai", `{"detail":{"message":"m","hint":"h"}}`, `"hint":"h"`},
		{"openai", `{"error":{"message":"m","m\u0065ssage":"m","a\"b":1}}`, `"a\"b":1`},
		{"openai", `{"error":{"message":"m","big":"` + strings.Repeat("x", 9<<10) + `","small":1}}`, `"small":1`},
		{"anthropic", `{"type":"error","error":{"type":"not_found_error","message":"m","details":{"error_code":"thread_not_found"}}}`, `"details":{"error_code":"thread_not_found"}`},
	} {
		f := upstreamerror.Failure{Shape: c.shape, Provider: "p", Status: 400, Body: []byte(c.body)}
		for _, got := range []string{string(f.Normalised()), string(f.ForMessages())} {
			if !strings.Contains(got, c.want+"}") || !strings.Contains(got, `"message":"p error: m"`) || len(got) > 12<<10 || !json.Valid([]byte(got)) {
				t.Errorf("%s: %s", c.body[:min(len(c.body), 80)], got)
			}
		}
	}
}

// The text of an error without an error object is kept, and a code that is a number is the same
// text for every provider.
func TestErrorsOfOtherShapes(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"openai", "openai_msg_type", "openai_code_str", "flat", "message", "aws", "anthropic", "google", "cohere", "together", "fireworks", "xai", "unknown"} {
		for body, want := range map[string]string{
			`{"detail":"Not authenticated"}`:                                                `"message":"p error: Not authenticated"`,
			`{"detail":[{"loc":["body","model"],"msg":"Field required","type":"missing"}]}`: `"message":"p error: body.model: Field required"`,
			`{"detail":{"error":{"message":"m","code":7}}}`:                                 `"code":"7","message":"p error: m"`,
			`{"error":"model is loading","error_type":"overloaded"}`:                        `"message":"p error: model is loading"`,
			`{"error":{"message":"m","type":"t","code":4007}}`:                              `"code":"4007","message":"p error: m"`,
		} {
			if got := string(upstreamerror.Failure{Shape: shape, Provider: "p", Status: 400, Body: []byte(body)}.Normalised()); !strings.Contains(got, want) {
				t.Errorf("%s of %s: %s", body, shape, got)
			}
		}
	}
}
