package gateway

import (
	"fmt"
	"time"

	"sluice/internal/gateway/cache/replay"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// softDenial returns a denial as a response with status 200: a completion whose text is the message of
// the denial, as a stream if the caller requested one. ok is false for a denial that has status 446,
// and for endpoints whose responses have no text. The log has 446 in any case.
// Source: contract/dataplane.md 5.1 (soft_deny_200).
func (x *exchange) softDenial(f *fault.Error, now time.Time) (contentType string, body []byte, ok bool) {
	a := x.last
	if f.Code != fault.GuardrailDenied || a == nil || !a.softDenied {
		return "", nil, false
	}
	ep := x.match.Endpoint
	form := denialForms[ep]
	if form == "" {
		return "", nil, false
	}
	u := &a.log().Usage
	body = fmt.Appendf(nil, form, x.id, now.Unix(), jsonedit.Quote(a.model), jsonedit.Quote(f.Text()), u.InputTokens, u.OutputTokens, max(u.TotalTokens, u.InputTokens+u.OutputTokens))
	body = x.withResults(body, f)
	if a.wantsStream() && replay.CanStream(ep) {
		usage := x.doc != nil && requestsUsage(x.doc)
		return "text/event-stream", replay.Stream(nil, ep, withoutResults(body), replay.Options{Now: now, IncludeUsage: usage}), true
	}
	return "application/json", body, true
}

// denialForms are the responses of the APIs: with the request id [1], the time in seconds [2], the model
// [3] and the message [4] in quotes, and the tokens that the provider counted: input [5], output [6] and
// all [7].
var denialForms = map[llm.Endpoint]string{
	llm.ChatComplete: `{"id":"chatcmpl-%[1]s","object":"chat.completion","created":%[2]d,"model":%[3]s,` +
		`"choices":[{"index":0,"message":{"role":"assistant","content":%[4]s,"refusal":null},"logprobs":null,"finish_reason":"content_filter"}],` +
		`"usage":{"prompt_tokens":%[5]d,"completion_tokens":%[6]d,"total_tokens":%[7]d}}`,
	llm.Complete: `{"id":"cmpl-%[1]s","object":"text_completion","created":%[2]d,"model":%[3]s,` +
		`"choices":[{"index":0,"text":%[4]s,"logprobs":null,"finish_reason":"content_filter"}],` +
		`"usage":{"prompt_tokens":%[5]d,"completion_tokens":%[6]d,"total_tokens":%[7]d}}`,
	llm.Messages: `{"id":"msg_%[1]s","type":"message","role":"assistant","model":%[3]s,"content":[{"type":"text","text":%[4]s}],` +
		`"stop_reason":"refusal","stop_sequence":null,"usage":{"input_tokens":%[5]d,"output_tokens":%[6]d}}`,
	llm.CreateModelResponse: `{"id":"resp_%[1]s","object":"response","created_at":%[2]d,"status":"incomplete","incomplete_details":{"reason":"content_filter"},` +
		`"error":null,"model":%[3]s,"output":[{"type":"message","id":"msg_%[1]s","role":"assistant","status":"completed","content":[{"type":"output_text","text":%[4]s,"annotations":[]}]}],` +
		`"usage":{"input_tokens":%[5]d,"output_tokens":%[6]d,"total_tokens":%[7]d}}`,
}
