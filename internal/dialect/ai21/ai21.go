// Package ai21 implements the dialect of AI21's Jurassic-2 models. They support text only
// and do not stream. Start reading at Dialect.
package ai21

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Dialect returns the dialect for AI21.
// Source: contract/provider-transforms.md 7.6.
func Dialect() *dialect.Dialect {
	return &dialect.Dialect{
		Name:      "ai21",
		Upstreams: map[llm.Endpoint]dialect.Upstream{llm.ChatComplete: chat{}},
		Unified:   map[llm.Endpoint]dialect.OpenAIEndpoint{llm.Complete: complete{}, llm.Embed: embed{}},
	}
}

// params lists the fields that chat and complete share.
var params = []fields.Rename{
	{Path: "n", To: "numResults"}, {Path: "temperature", To: "temperature"}, {Path: "top_p", To: "topP"}, {Path: "top_k", To: "topKReturn"},
	{Path: "minTokens", To: "minTokens"},
}

// penalties lists the parameters that AI21 wraps in an object: {"scale":0.5}.
var penalties = []fields.Rename{{Path: "presence_penalty", To: "presencePenalty"}, {Path: "frequency_penalty", To: "frequencyPenalty"}}

func writeParams(w *jsonwriter.Writer, t *llm.FieldTracker) {
	fields.WriteParams(w, t, params)
	if raw, ok := t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("maxTokens", raw)
	}
	if raw, ok := t.Consume(llm.Stop); ok {
		w.Raw("stopSequences", conversation.Stops(raw, true))
	}
	for _, p := range penalties {
		if raw, ok := t.Consume(p.Path); ok {
			w.Key(p.To).Open('{')
			w.Raw("scale", raw)
			w.Close('}')
		}
	}
}

// finishOf reads {"finishReason":{"reason":"endoftext"}}.
func finishOf(raw []byte) (f llm.Finish, name string) {
	reason, _ := jsonedit.Find(raw, "finishReason", "reason")
	if name, _ = jsonedit.Unquote(reason); name == "length" {
		return llm.FinishLength, name
	}
	return llm.FinishStop, name
}

// idOf returns the id of a response, which is a string or a number.
func idOf(body []byte) string {
	raw, ok := jsonedit.Find(body, "id")
	if s, quoted := jsonedit.Unquote(raw); quoted || !ok || string(raw) == "null" {
		return s
	}
	return string(raw)
}
