package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/test/upstream"
)

// On the paths of vendors' own clients the gateway's errors have the vendor's shape, whatever is
// wrong; below /v1 they have OpenAI's.
func TestErrorsHaveTheShapeOfThePath(t *testing.T) {
	t.Parallel()
	google := func(code, status string) string {
		return `{"error":{"code":` + code + `,"message":"*","status":"` + status + `"}}`
	}
	amazon, cohere := `{"message":"*"}`, `{"message":"*"}`
	for _, c := range []struct {
		path    string
		headers []string
		status  int
		shape   string
		typ     string
	}{
		{"/v1beta/models/gemini-2.5-flash:generateContent", []string{"x-gateway-api-key: sk-unknown"}, 401, google("401", "UNAUTHENTICATED"), ""},
		{"/v1beta/models/gemini-2.5-flash:generateContent", nil, 400, google("400", "INVALID_ARGUMENT"), ""},
		{"/v1beta/models/@none/gemini-2.5-flash:generateContent", []string{"x-gateway-provider: google"}, 400, google("400", "INVALID_ARGUMENT"), ""},
		{"/v1alpha/models/gemini-2.5-flash:generateContent", []string{"x-gateway-api-key: " + narrowKey}, 403, google("403", "PERMISSION_DENIED"), ""},
		{"/v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent", nil, 400, google("400", "INVALID_ARGUMENT"), ""},
		{"/upload/v1beta/files", nil, 400, google("400", "INVALID_ARGUMENT"), ""},
		{"/model/amazon.nova-lite-v1%3A0/converse", []string{"x-gateway-api-key: sk-unknown"}, 401, amazon, "UnrecognizedClientException"},
		{"/model/amazon.nova-lite-v1%3A0/converse", nil, 400, amazon, "ValidationException"},
		{"/model/amazon.nova-lite-v1%3A0/converse", []string{"x-gateway-api-key: " + narrowKey}, 403, amazon, "AccessDeniedException"},
		{"/v2/chat", nil, 400, cohere, ""},
		{"/v2/embed", []string{"x-gateway-api-key: sk-unknown"}, 401, cohere, ""},
		{"/v2/rerank", nil, 400, cohere, ""},
		{"/v1beta/openai/chat/completions", nil, 400, `{"error":{"code":null,"message":"*","param":"x-gateway-provider","type":"invalid_request_error"},"message":"*","param":"x-gateway-provider","status":"failure"}`, ""},
	} {
		r := newRig(t)
		a := r.call("POST", c.path, `{}`, c.headers...)
		var got any
		if err := json.Unmarshal([]byte(a.Text), &got); err != nil {
			t.Fatalf("%s: %s", c.path, a.Text)
		}
		shape, _ := json.Marshal(masked(got))
		if a.StatusCode != c.status || string(shape) != c.shape || a.Header.Get("x-amzn-errortype") != c.typ {
			t.Errorf("%s %v: %d %s %s, want %d %s", c.path, c.headers, a.StatusCode, a.Header.Get("x-amzn-errortype"), a.Text, c.status, c.shape)
		}
	}
}

// masked replaces the texts of an error with a star.
func masked(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for k, val := range m {
		if m[k] = masked(val); k == "message" {
			m[k] = "*"
		}
	}
	return m
}

// A provider's own error on these paths is given as it came.
func TestErrorsOfVendorsAreRelayed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const text = `{"error":{"code":400,"message":"bad","status":"FAILED_PRECONDITION","details":[]}}`
	r.up.Handle("/v1beta/models/m:generateContent", upstream.Always(upstream.JSON(400, []byte(text))))
	if a := r.call("POST", "/v1beta/models/m:generateContent", `{}`, r.gemini()...); a.StatusCode != 400 || a.Text != text {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// A stream that the provider cuts ends with the error in the vendor's form, where it has one,
// and is cut as before.
func TestCutStreamsEndWithTheErrorOfTheVendor(t *testing.T) {
	t.Parallel()
	const geminiPart = "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hel\"}]}}]}\n\n"
	const coherePart = "event: content-delta\ndata: {\"type\":\"content-delta\"}\n\n"
	frame := string(dialect.AppendException(nil, "x", []byte(`{}`)))
	bedrock := []string{"x-gateway-provider: bedrock", "x-gateway-aws-region: eu-central-1", "x-gateway-aws-access-key-id: AKIDEXAMPLE", "x-gateway-aws-secret-access-key: secret"}
	cohere := []string{"x-gateway-provider: cohere", "authorization: Bearer k"}
	for _, c := range []struct {
		name, path, kind, part string
		headers                []string
		end                    string
	}{
		{"google", "/v1beta/models/m:streamGenerateContent", "text/event-stream", geminiPart, []string{"x-gateway-provider: google", "authorization: Bearer k"}, geminiPart + `data: {"error":{"code":502,"message":"the provider ended its response early","status":"UNAVAILABLE"}}` + "\n\n"},
		{"google, inside an event", "/v1beta/models/m:streamGenerateContent", "text/event-stream", geminiPart + "data: {\"a", []string{"x-gateway-provider: google", "authorization: Bearer k"}, geminiPart + "data: {\"a\n\n" + `data: {"error":{"code":502,"message":"the provider ended its response early","status":"UNAVAILABLE"}}` + "\n\n"},
		{"google, as JSON", "/v1beta/models/m:streamGenerateContent", "application/json", "[{}\n,", []string{"x-gateway-provider: google", "authorization: Bearer k"}, "[{}\n,"},
		{"cohere", "/v2/chat", "text/event-stream", coherePart, cohere, coherePart + "event: message-end\n" + `data: {"type":"message-end","delta":{"finish_reason":"ERROR","error":"the provider ended its response early"}}` + "\n\n"},
		{"amazon", "/model/m/converse-stream", "application/vnd.amazon.eventstream", frame, bedrock, frame + string(dialect.AppendException(nil, "internalServerException", []byte(`{"message":"the provider ended its response early"}`)))},
		{"amazon, inside a frame", "/model/m/converse-stream", "application/vnd.amazon.eventstream", frame + frame[:20], bedrock, frame + frame[:20]},
		{"below /v1", "/v1/anything", "text/event-stream", geminiPart, cohere, geminiPart},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			response := upstream.Stream(c.part)
			response.Header, response.End = []upstream.Field{{Name: "Content-Type", Value: c.kind}}, upstream.Cut
			r.up.Handle(strings.Replace(c.path, "/v1/", "/", 1), upstream.Always(response))
			a := r.call("POST", c.path, `{}`, append(c.headers, "x-gateway-custom-host: "+r.up.URL())...)
			if a.StatusCode != 200 || a.Text != c.end || a.Err == nil {
				t.Errorf("%d %q %v, want %q", a.StatusCode, a.Text, a.Err, c.end)
			}
		})
	}
}
