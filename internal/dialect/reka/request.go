package reka

import (
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// chat translates /chat.
// Source: contract/provider-transforms.md 1.4 and 7.8.
type chat struct{}

var _ dialect.Upstream = chat{}

// params are the fields that chat has.
var params = []fields.Rename{
	{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "runtime_top_p"}, {Path: "top_k", To: "runtime_top_k"},
	{Path: "seed", To: "random_seed"}, {Path: "frequency_penalty", To: "frequency_penalty"}, {Path: "presence_penalty", To: "presence_penalty"},
	{Path: "length_penalty", To: "length_penalty"}, {Path: "use_search_engine", To: "use_search_engine"},
}

// EncodeCall builds a request to /chat.
func (chat) EncodeCall(_ context.Context, c *llm.Call, to *dialect.Target) (*dialect.Outgoing, error) {
	t := llm.NewTally(c)
	turns, media, err := history(t, c)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model_name", to.Model)
	w.Key("conversation_history").Open('[')
	for i, turn := range turns {
		w.Open('{')
		w.Str("type", turn.who)
		w.Str("text", turn.text)
		if i == 0 {
			w.Opt("media_url", media)
		}
		w.Close('}')
	}
	w.Close(']')
	fields.WriteParams(&w, t, params)
	if raw, ok := t.First(llm.MaxCompletionTokens, llm.MaxTokens); ok {
		w.Raw("request_output_len", raw)
	}
	if raw, ok := t.Consume(llm.Stop); ok {
		w.Raw("stop_words", conversation.Stops(raw, true))
	}
	w.Close('}')
	conversation.DropTools(t, c)
	conversation.DropFormat(t, c)
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// NewDecoder returns a decoder for a response that is not a stream.
func (c chat) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	return dialect.BufferedDecoder(incoming, c)
}
