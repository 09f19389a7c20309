package dialect_test

import (
	"context"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
)

// plainReader is a provider that answers with nothing but the text.
type plainReader struct{}

func (plainReader) EncodeCall(context.Context, *llm.Call, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

func (plainReader) DecodeReply(in *dialect.Incoming) (*llm.Response, error) {
	if len(in.Body) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "nothing came")
	}
	return &llm.Response{Choices: []llm.Choice{{Parts: []llm.Part{{Text: string(in.Body)}}}}}, nil
}

func (r plainReader) NewDecoder(in *dialect.Incoming) dialect.EventDecoder {
	return dialect.BufferedDecoder(in, r)
}

func TestWholeDecoder(t *testing.T) {
	t.Parallel()
	text := ""
	emit := func(e *llm.Event) { text += e.Text }
	in := &dialect.Incoming{Body: []byte("of another answer")}
	d := plainReader{}.NewDecoder(in)
	for _, p := range []string{"Hel", "lo"} {
		if err := d.Feed([]byte(p), emit); err != nil || text != "" {
			t.Fatalf("%q told before the end, %v", text, err)
		}
	}
	if err := d.Close(emit); err != nil || text != "Hello" || string(in.Body) != "of another answer" {
		t.Errorf("%q, %v; the answer it came with is %q", text, err, in.Body)
	}
	if err := (plainReader{}).NewDecoder(&dialect.Incoming{}).Close(emit); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("nothing: %v", err)
	}
	d = plainReader{}.NewDecoder(in)
	piece := make([]byte, 16<<20)
	for range 2 {
		if err := d.Feed(piece, emit); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Feed(piece[:1], emit); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("33 MiB: %v", err)
	}
}
