package stream_test

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/gateway/stream"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

func TestContinue_JoinsTheTextOfEarlierTargets(t *testing.T) {
	t.Parallel()
	end := dialect.StreamEnd{TextOnly: true, Text: " three", ID: "c"}
	got := stream.Continue(&stream.Partial{Text: "one two", ID: "b", From: "first"}, llm.ChatComplete, end, "second")
	if want := (stream.Partial{Text: "one two three", ID: "c", From: "second"}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestContinue_NeedsThePlainTextOfAChat(t *testing.T) {
	t.Parallel()
	if got := stream.Continue(nil, llm.ChatComplete, dialect.StreamEnd{Text: "x"}, ""); got != nil {
		t.Errorf("a partial tool call: got %+v, want nil", got)
	}
	if got := stream.Continue(nil, llm.CreateModelResponse, dialect.StreamEnd{TextOnly: true}, ""); got != nil {
		t.Errorf("another endpoint: got %+v, want nil", got)
	}
}

func TestPartial_EditAddsAtMostMaxAdded(t *testing.T) {
	t.Parallel()
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	const body = `{"messages":[{"role":"user","content":"count"}]}`
	if err := jsonedit.Scan([]byte(body), d); err != nil {
		t.Fatal(err)
	}
	p := &stream.Partial{Text: `one "two"`}
	const want = `{"messages":[{"role":"user","content":"count"},{"role":"assistant","content":"one \"two\""},{"role":"user","content":"Continue your last message exactly where it stops. Repeat nothing of it and add no introduction."}]}`
	if got := string(d.Apply([]jsonedit.Edit{p.Edit(d)})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if p.MaxAdded() < 100 || (*stream.Partial)(nil).MaxAdded() != 0 {
		t.Errorf("adds %d, and %d without a partial response", p.MaxAdded(), (*stream.Partial)(nil).MaxAdded())
	}
}

func TestNewFrames_IsNilForOtherStreams(t *testing.T) {
	t.Parallel()
	if stream.NewFrames(wire.Header{{Name: "content-type", Value: "text/event-stream"}}) != nil {
		t.Error("events of another type have frames")
	}
	f := stream.NewFrames(wire.Header{{Name: "content-type", Value: stream.AmazonContentType}})
	watch := dialect.NewStream(dialect.StreamOptions{Endpoint: llm.ChatComplete})
	f.Feed([]byte("data: these are not frames, and are ignored\n\n"), watch)
	if watch.Usage().Reported {
		t.Error("usage without frames")
	}
}
