package cohere

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// chat implements /v2/chat.
// Source: https://docs.cohere.com/reference/chat, read 2026-11; contract/provider-transforms.md
// 6.1 to 6.3.
type chat struct{}

var _ dialect.Upstream = chat{}

// params maps the gateway's names of the chat parameters to Cohere's.
var params = []fields.Rename{
	{Path: "temperature", To: "temperature"}, {Path: "seed", To: "seed"}, {Path: "frequency_penalty", To: "frequency_penalty"},
	{Path: "presence_penalty", To: "presence_penalty"}, {Path: "top_p", To: "p"}, {Path: "logprobs", To: "logprobs"},
	{Path: "documents", To: "documents"}, {Path: "citation_options", To: "citation_options"}, {Path: "safety_mode", To: "safety_mode"},
}

// EncodeCall builds a request to /v2/chat.
func (chat) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	w := writer{c: c, t: llm.NewTally(c)}
	w.Open('{')
	w.Str("model", to.Model)
	if err := w.messages(); err != nil {
		return nil, err
	}
	w.tools()
	w.choice()
	w.format()
	w.params()
	if to.Stream {
		w.Bool("stream", true)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: w.t.Dropped()}, nil
}

// writer writes one request.
type writer struct {
	jsonwriter.Writer
	c *llm.Call
	t *llm.FieldTracker
}

func (w *writer) params() {
	fields.WriteParams(&w.Writer, w.t, params)
	if raw, ok := w.t.First(llm.MaxTokens, llm.MaxCompletionTokens); ok {
		w.Raw("max_tokens", raw)
	}
	if raw, ok := w.t.First("k", "top_k"); ok {
		w.Raw("k", raw)
	}
	if raw, ok := w.t.Consume(llm.Stop); ok {
		w.Raw("stop_sequences", conversation.Stops(raw, true))
	}
	raw, _ := w.t.Peek(llm.Thinking)
	if mode := jsonedit.Text(raw, "type"); mode == "enabled" || mode == "disabled" { // Cohere rejects all others, such as "adaptive"
		w.t.Consume(llm.Thinking)
		w.Raw("thinking", thinking(raw))
	}
}

// thinking converts {"type":"enabled","budget_tokens":2048} to Cohere's format. Callers may use
// Cohere's format, too.
func thinking(raw []byte) []byte {
	budget, ok := jsonedit.Find(raw, "budget_tokens")
	if !ok {
		return raw
	}
	kind, _ := jsonedit.Find(raw, "type")
	var w jsonwriter.Writer
	w.Open('{')
	w.Raw("type", kind)
	w.Raw("token_budget", budget)
	w.Close('}')
	return w.B
}
