package usage_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect/sniff"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// plainResponse is a chat answer of about 1 KB.
var plainResponse = `{"id":"chatcmpl-9fXQm2","object":"chat.completion","created":1732233600,"model":"gpt-4o-mini-2024-07-18",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("The water stands at 120 cm.\\n", 18) +
	`","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":120,"completion_tokens":48,"total_tokens":168,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
	`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},` +
	`"service_tier":"default","system_fingerprint":"fp_0ba0d124f1"}`

func TestReadReplyIsValidReplyAndUsage(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		plainResponse, ` {"usage":{"prompt_tokens":3},"x_groq":{"usage":{"total_tokens":9}}} `, `{"model":"a","model":"b","usage":{"total_tokens":1}}`,
		"", "[]", "{", `{"usage":{"total_tokens":1}`, `{"usage":{"total_tokens":1},}`, `{"usage":{"total_tokens":1}} x`, "<html>", "{\"a\":\"\xff\"}",
	} {
		for _, ep := range []llm.Endpoint{llm.ChatComplete, llm.Messages, llm.CreateTranscription, llm.Rerank} {
			var d jsonedit.Doc
			u, model, err := usage.ReadResponse(ep, []byte(body), "x_groq.usage", &d)
			want := sniff.CheckObject(ep, []byte(body))
			if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
				t.Errorf("%s %q: %v, want %v", ep, body, err, want)
			}
			if err != nil {
				continue
			}
			if wantU, wantModel := usage.Read(ep, []byte(body), "x_groq.usage"); u != wantU || model != wantModel {
				t.Errorf("%s %q: %+v of %q, want %+v of %q", ep, body, u, model, wantU, wantModel)
			}
		}
	}
}

func TestReadReplyLeavesTheIndex(t *testing.T) {
	t.Parallel()
	body := []byte(plainResponse)
	var d jsonedit.Doc
	if _, _, err := usage.ReadResponse(llm.ChatComplete, body, "", &d); err != nil || !d.Indexes(body) || d.Indexes([]byte(plainResponse)) {
		t.Fatalf("%v, indexed %v, an equal text %v", err, d.Indexes(body), d.Indexes([]byte(plainResponse)))
	}
	if _, _, err := usage.ReadResponse(llm.CreateTranscription, []byte("plain text"), "", &d); err != nil || d.Indexes(body) {
		t.Fatalf("%v; the index of the former reply is still there: %v", err, d.Indexes(body))
	}
}

func BenchmarkReadReply(b *testing.B) {
	body := []byte(plainResponse)
	var d jsonedit.Doc
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if u, _, err := usage.ReadResponse(llm.ChatComplete, body, "", &d); err != nil || u.TotalTokens != 168 || !d.Indexes(body) {
			b.Fatal(u, err)
		}
	}
}
