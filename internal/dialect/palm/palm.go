// Package palm translates requests for Google's PaLM API, which supports only text and no
// streams. Google has retired the API. Hosts that still serve it need a custom host. Start
// reading at Dialect.
package palm

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect returns the shape.
// Source: contract/provider-transforms.md 7.7.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      "palm",
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}},
		Unified:   map[llm.Endpoint]dialect.OpenAIEndpoint{llm.Complete: complete{}, llm.Embed: embed{}},
	}
}

// params are the fields that chat and complete have.
var params = []fields.Rename{
	{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "topP"}, {Path: "top_k", To: "topK"}, {Path: "n", To: "candidateCount"},
}

func writeParams(w *jsonwriter.Writer, t *llm.FieldTracker) {
	fields.WriteParams(w, t, params)
	if raw, ok := t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("maxOutputTokens", raw)
	}
	if raw, ok := t.Consume(llm.Stop); ok {
		w.Raw("stopSequences", conversation.Stops(raw, true))
	}
}

// blocked reports whether a response was blocked: {"filters":[{"reason":"SAFETY"}]}.
func blocked(body []byte) (reason string, ok bool) {
	list, _ := jsonedit.Find(body, "filters")
	for f := range jsonedit.Elements(list) {
		return jsonedit.Text(f, "reason"), true
	}
	return "", false
}
