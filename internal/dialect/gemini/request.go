package gemini

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// generate is generateContent and streamGenerateContent?alt=sse.
// Source: https://ai.google.dev/api/generate-content and
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference, read
// 2026-11; contract/provider-transforms.md section 4.
type generate struct {
	vertex bool // for Vertex AI, which has its tiers in a header
}

var _ dialect.Upstream = generate{}

// EncodeCall builds a request to generate content. The address contains the model and
// whether the response is streamed.
func (g generate) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	w := newWriter(c, to.Model)
	w.vertex = g.vertex
	if err := w.request(); err != nil {
		return nil, err
	}
	out := &dialect.Outgoing{Body: w.B}
	if g.vertex {
		out.Header = w.sharing()
	}
	out.Dropped = w.t.Dropped()
	return out, nil
}

// writer writes one request: its contents, its tools and its configuration into one body.
type writer struct {
	callBody
	contentWriter
	toolWriter
	configWriter
	// vertex reports whether tiers are requested in a header.
	vertex bool
}

// callBody is the body of a request, with the call that it is written from and the family of its
// model. The writers of its parts share it.
type callBody struct {
	jsonwriter.Writer
	c *llm.Call
	t *llm.FieldTracker
	m family
}

func newWriter(c *llm.Call, model string) *writer {
	m := familyOf(model)
	if m.supportsSystemInstruction() {
		c = conversation.EnsureUserMessage(c)
	}
	w := &writer{callBody: callBody{c: c, t: llm.NewTally(c), m: m}}
	w.contentWriter.callBody, w.toolWriter.callBody, w.configWriter.callBody = &w.callBody, &w.callBody, &w.callBody
	return w
}

func (w *writer) request() error {
	w.Open('{')
	if err := w.conversation(); err != nil {
		return err
	}
	w.tools()
	w.toolConfig()
	w.generationConfig()
	w.settings()
	w.Close('}')
	return nil
}

// settings writes the fields other than the conversation and its generationConfig.
// Source: contract/provider-transforms.md 4.1.
func (w *writer) settings() {
	for _, f := range [...]struct{ from, to string }{
		{"safety_settings", "safetySettings"}, {"cached_content", "cachedContent"}, {"labels", "labels"},
	} {
		if raw, ok := w.t.Consume(f.from); ok {
			w.Raw(f.to, raw)
		}
	}
	if tier := w.tier(); tier != "" && !w.vertex {
		w.Str("serviceTier", tier)
	}
}
