package responses

import (
	"testing"

	"sluice/internal/kernel/llm"
)

// textDeltas is a stream in the middle of a text.
const textDeltas = `event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_67","output_index":0,"content_index":0,"delta":" peaceful","logprobs":[],"obfuscation":"x1"}

`

// The only thing that a piece of a text costs is the text.
func TestDecoderAllocatesOnlyText(t *testing.T) {
	d := upstream{}.NewDecoder(nil)
	data := []byte(textDeltas)
	emit := func(*llm.Event) {}
	read := func() {
		if err := d.Feed(data, emit); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if n := testing.AllocsPerRun(200, read); n > 3 {
		t.Errorf("%v allocations for a piece of text", n)
	}
}

// A piece of a text goes into buffers that are there.
func TestEncoderDoesNotAllocate(t *testing.T) {
	enc := client{}.NewEncoder(newResponseContext(t, true))
	ev := llm.Event{Kind: llm.EventText, Text: " peaceful"}
	dst := make([]byte, 0, 64<<10)
	for range 100_000 { // room for what the runs below add
		enc.Append(dst, &ev)
	}
	if n := testing.AllocsPerRun(200, func() { enc.Append(dst, &ev) }); n > 0 {
		t.Errorf("%v allocations for a piece of text", n)
	}
}

func BenchmarkDecoder(b *testing.B) {
	d := upstream{}.NewDecoder(nil)
	data := []byte(textDeltas)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Feed(data, func(*llm.Event) {}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncoder(b *testing.B) {
	a := newResponseContext(b, true)
	ev := llm.Event{Kind: llm.EventText, Text: " peaceful"}
	dst := make([]byte, 0, 4<<10)
	b.ReportAllocs()
	enc := client{}.NewEncoder(a)
	for i := 0; b.Loop(); i++ {
		if i%10_000 == 0 {
			enc = client{}.NewEncoder(a)
		}
		enc.Append(dst, &ev)
	}
}
