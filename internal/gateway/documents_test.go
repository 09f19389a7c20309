package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// Mistral has its own word for a document: whatever the caller speaks, it gets that.
func TestMistralGetsDocumentsInItsOwnWords(t *testing.T) {
	t.Parallel()
	const (
		responseBody = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`
		data         = `"type":"document_url","document_url":"data:application/pdf;base64,JVBERg=="`
		url          = `{"type":"document_url","document_url":"https://example.com/a.pdf"}`
	)
	for _, c := range []struct{ path, body, want string }{
		{"/v1/chat/completions", `{"model":"M","messages":[{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}}]}]}`, data},
		{"/v1/messages", `{"model":"M","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}}]}]}`, data},
		{"/v1/messages", `{"model":"M","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}}]}]}`, url},
		{"/v1/responses", `{"model":"M","input":[{"role":"user","content":[{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}]}]}`, data},
		{"/v1/responses", `{"model":"M","input":[{"role":"user","content":[{"type":"input_file","file_url":"https://example.com/a.pdf"}]}]}`, url},
	} {
		for _, to := range [][]string{
			{"mistral-large-latest", "x-gateway-provider: mistral-ai"},
			{"mistralai.mistral-large-2411", "x-gateway-provider: vertex-ai", "x-gateway-vertex-region: global", "x-gateway-vertex-project-id: p"},
		} {
			r := newRig(t)
			r.up.Script(upstream.Always(upstream.JSON(200, []byte(responseBody))))
			a := r.call("POST", c.path, strings.Replace(c.body, `"M"`, `"`+to[0]+`"`, 1), append(to[1:], "authorization: Bearer k", "x-gateway-custom-host: "+r.up.URL())...)
			seen := r.up.Seen()
			if len(seen) != 1 {
				t.Fatalf("%s %s: %d %s", to[1], c.body, a.StatusCode, a.Text)
			}
			if a.StatusCode != 200 || !strings.Contains(string(seen[0].Body), c.want) {
				t.Errorf("%s %s: %d %s, sent %s", to[1], c.body, a.StatusCode, a.Text, seen[0].Body)
			}
		}
	}
}
