package anthropic

import (
	"cmp"
	"context"

	"sluice/internal/dialect"
	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// complete implements /v1/complete, which continues a text.
// Source: https://platform.claude.com/docs/en/api/completions/create, read 2026-11;
// contract/provider-transforms.md 2.7.
type complete struct{}

var _ dialect.Streamer = complete{}

// EncodeRequest builds a request for a completion.
func (complete) EncodeRequest(_ context.Context, r *dialect.Request, to *dialect.Target) (*dialect.Outgoing, error) {
	t := fields.Track(r.Body)
	prompt, err := dialect.Prompt(t)
	if err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("model", to.Model)
	w.Str("prompt", "\n\nHuman: "+prompt+"\n\nAssistant:")
	if raw, ok := t.Consume(llm.MaxTokens); ok {
		w.Raw("max_tokens_to_sample", raw)
	} else {
		w.Int("max_tokens_to_sample", claude.ParseModel(to.Model).MaxOutput())
	}
	fields.WriteParams(&w, t, []fields.Rename{{Path: "temperature", To: "temperature"}, {Path: "top_p", To: "top_p"}, {Path: "top_k", To: "top_k"}})
	if raw, ok := t.Consume(llm.Stop); ok {
		w.Raw("stop_sequences", conversation.Stops(raw, false))
	}
	if raw, ok := t.Consume(llm.User); ok {
		w.Key("metadata").Open('{')
		w.Raw("user_id", raw)
		w.Close('}')
	}
	if to.Stream {
		w.Bool("stream", true)
	}
	w.Close('}')
	return &dialect.Outgoing{Body: w.B, Dropped: t.Dropped()}, nil
}

// TranslateResponse reads {"completion":…,"stop_reason":…}. Anthropic counts no tokens here.
func (complete) TranslateResponse(incoming *dialect.Incoming) (*dialect.Response, error) {
	if _, ok := jsonedit.Find(incoming.Body, "completion"); !ok || !jsonedit.Valid(incoming.Body) {
		return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a completion")
	}
	c := dialect.Completion{
		ID: completionID(incoming.Body), Created: incoming.Created, Model: cmp.Or(jsonedit.Text(incoming.Body, "model"), incoming.To.Model),
		Choices: []dialect.CompletionChoice{{Text: jsonedit.Text(incoming.Body, "completion"), Finish: finishOf(jsonedit.Text(incoming.Body, "stop_reason"))}},
	}
	return c.BuildResponse(incoming.To.Stream), nil
}

func completionID(raw []byte) string {
	return cmp.Or(jsonedit.Text(raw, "log_id"), jsonedit.Text(raw, "id"))
}

// NewStream returns a translator from a streamed completion to OpenAI's format.
func (complete) NewStream(incoming *dialect.Incoming) dialect.StreamTranscoder {
	return dialect.CompletionStream(incoming, &completions{})
}

// completions reads the events of one completion. Each event contains a text delta. The last
// event contains the reason for the end.
type completions struct {
	events  dialect.EventReader
	started bool
	ended   bool
}

// Feed reads a chunk of the stream.
func (d *completions) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, func(_, data []byte) error { return d.event(data, emit) })
}

// Close ends the stream. A stream without a stop reason was cut off.
func (d *completions) Close(emit func(*llm.Event)) error {
	return d.events.Close(func(_, data []byte) error { return d.event(data, emit) })
}

func (d *completions) event(data []byte, emit func(*llm.Event)) error {
	switch {
	case d.ended:
		return nil
	case !jsonedit.Valid(data):
		return fault.New(fault.UpstreamInvalid, "the provider sent an event that is not a JSON object")
	}
	if _, failed := jsonedit.Find(data, "error"); failed {
		d.ended = true
		f := readFault(data)
		emit(&f)
		return nil
	}
	if _, ok := jsonedit.Find(data, "completion"); !ok { // a ping
		return nil
	}
	if !d.started {
		d.started = true
		emit(&llm.Event{Kind: llm.EventStart, ID: completionID(data), Model: jsonedit.Text(data, "model")})
		emit(&llm.Event{Kind: llm.EventBlock})
	}
	if text := jsonedit.Text(data, "completion"); text != "" {
		emit(&llm.Event{Kind: llm.EventText, Text: text})
	}
	if reason := jsonedit.Text(data, "stop_reason"); reason != "" {
		d.ended = true
		emit(&llm.Event{Kind: llm.EventBlockEnd})
		emit(&llm.Event{Kind: llm.EventFinish, Finish: finishOf(reason), Text: reason, Name: jsonedit.Text(data, "stop")})
		emit(&llm.Event{Kind: llm.EventEnd})
	}
	return nil
}
