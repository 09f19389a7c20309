package anthropic_test

import (
	"bytes"
	"context"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// long is a stream of a thousand pieces of text.
func long(t testing.TB) []byte {
	t.Helper()
	stream := read(t, "text.sse")
	const from, to = "event: ping", "event: content_block_stop"
	start, end := bytes.Index(stream, []byte(from)), bytes.Index(stream, []byte(to))
	return bytes.Join([][]byte{stream[:start], bytes.Repeat(stream[start:end], 500), stream[end:]}, nil)
}

func decode(stream []byte, emit func(*llm.Event)) {
	d := newDecoder()
	for len(stream) > 0 { // as reads of a connection come
		n := min(len(stream), 4096)
		_ = d.Feed(stream[:n], emit)
		stream = stream[n:]
	}
	_ = d.Close(emit)
}

// transcode reads a stream and writes it again.
func transcode(stream, dst []byte) []byte {
	enc := client.NewEncoder(newResponseContext())
	decode(stream, func(e *llm.Event) { dst = enc.Append(dst[:0], e) })
	return dst
}

// TestAllocs: a piece of text costs its string, read and written.
func TestAllocs(t *testing.T) {
	stream := long(t)
	dst := make([]byte, 0, 1<<20)
	got := testing.AllocsPerRun(5, func() { transcode(stream, dst) })
	if got > 1200 {
		t.Errorf("%.0f allocations for a thousand pieces", got)
	}
}

func BenchmarkDecoder(b *testing.B) {
	stream := long(b)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		decode(stream, func(*llm.Event) {})
	}
}

func BenchmarkRetell(b *testing.B) {
	stream := long(b)
	dst := make([]byte, 0, 1<<20)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		transcode(stream, dst)
	}
}

func BenchmarkCall(b *testing.B) {
	body := []byte(everything)
	b.ReportAllocs()
	for b.Loop() {
		c, err := client.DecodeCall(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := upstream.EncodeCall(context.Background(), c, &dialect.Target{Value: func(string) string { return "" }}); err != nil {
			b.Fatal(err)
		}
	}
}
