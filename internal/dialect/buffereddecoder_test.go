package dialect_test

import (
	"context"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// plainReader is a provider that answers with nothing but the text.
type plainReader struct{}

func (plainReader) EncodeCall(context.Context, *llm.Call, *dialect.Target) (*dialect.Outgoing, error) {
	return &dialect.Outgoing{}, nil
}

func (plainReader) DecodeResponse(incoming *dialect.Incoming) (*llm.Response, error) {
	if len(incoming.Body) == 0 {
		return nil, fault.New(fault.UpstreamInvalid, "nothing came")
	}
	return &llm.Response{Choices: []llm.Choice{{Parts: []llm.Part{{Text: string(incoming.Body)}}}}}, nil
}

func (r plainReader) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	return dialect.BufferedDecoder(incoming, r)
}

func TestWholeDecoder(t *testing.T) {
	t.Parallel()
	text := ""
	emit := func(e *llm.Event) { text += e.Text }
	incoming := &dialect.Incoming{Body: []byte("of another answer")}
	d := plainReader{}.NewDecoder(incoming)
	for _, p := range []string{"Hel", "lo"} {
		if err := d.Feed([]byte(p), emit); err != nil || text != "" {
			t.Fatalf("%q told before the end, %v", text, err)
		}
	}
	if err := d.Close(emit); err != nil || text != "Hello" || string(incoming.Body) != "of another answer" {
		t.Errorf("%q, %v; the answer it came with is %q", text, err, incoming.Body)
	}
	if err := (plainReader{}).NewDecoder(&dialect.Incoming{}).Close(emit); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("nothing: %v", err)
	}
	d = plainReader{}.NewDecoder(incoming)
	block := make([]byte, 16<<20)
	for range 2 {
		if err := d.Feed(block, emit); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Feed(block[:1], emit); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("33 MiB: %v", err)
	}
}
