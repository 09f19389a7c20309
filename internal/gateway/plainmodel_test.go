package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// Providers that do not name the model in their answers: the answer has the plain name, not
// the saved provider before it, on every surface, as a whole and as a stream.
func TestAnswersHaveThePlainNameOfTheModel(t *testing.T) {
	t.Parallel()
	const (
		cohereResponse = `{"id":"c1","message":{"role":"assistant","content":[{"type":"text","text":"Hi"}]},"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":4,"output_tokens":2}}}`
		cohereStream   = "event: message-start\ndata: {\"id\":\"c1\",\"type\":\"message-start\",\"delta\":{\"message\":{\"role\":\"assistant\",\"content\":[]}}}\n\n" +
			"event: content-start\ndata: {\"type\":\"content-start\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"type\":\"text\",\"text\":\"\"}}}}\n\n" +
			"event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"Hi\"}}}}\n\n" +
			"event: content-end\ndata: {\"type\":\"content-end\",\"index\":0}\n\n" +
			"event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"COMPLETE\",\"usage\":{\"tokens\":{\"input_tokens\":4,\"output_tokens\":2}}}}\n\n"
		converseResponse = `{"output":{"message":{"role":"assistant","content":[{"text":"Hi"}]}},"stopReason":"end_turn","usage":{"inputTokens":4,"outputTokens":2,"totalTokens":6}}`
	)
	for _, c := range []struct{ spec, model, path, response string }{
		{"cohere", "command-a-03-2025", "/v2/chat", cohereResponse},
		{"cohere", "command-a-03-2025", "/v2/chat", cohereStream},
		{"bedrock", "amazon.nova-lite-v1:0", "/model/amazon.nova-lite-v1%3A0/converse", converseResponse},
	} {
		for name, s := range surfaces {
			r := newRig(t)
			stream := strings.HasPrefix(c.response, "event: ")
			account := r.saved("main", c.spec, "")
			account.Values["aws_auth_type"], account.Values["aws_region"] = "apiKey", "us-east-1"
			response := upstream.JSON(200, []byte(c.response))
			body := strings.Replace(s.body, `"model":"m-1"`, `"model":"@main/`+c.model+`"`, 1)
			if stream {
				response = upstream.Stream(c.response)
				body = `{"stream":true,` + body[1:]
			}
			r.up.Handle(c.path, upstream.Always(response))
			a := r.call("POST", s.path, body)
			if a.StatusCode != 200 || !strings.Contains(a.Text, `"model":"`+c.model+`"`) || strings.Contains(a.Text, "@main") {
				t.Errorf("%s at %s: %d %s", name, c.spec, a.StatusCode, a.Text)
			}
		}
	}
}
