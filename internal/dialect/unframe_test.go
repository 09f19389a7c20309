package dialect_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
)

func unframe(chunks ...[]byte) (string, error) {
	var u dialect.Unframer
	var out []byte
	var err error
	for _, p := range chunks {
		if out, err = u.Append(out, bytes.Clone(p)); err != nil {
			return string(out), err
		}
	}
	out, err = u.Close(out)
	return string(out), err
}

const unframed = `event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-4-5-20250929","id":"msg_bdrk_01XyZ","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":3}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello – there"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}

event: message_stop
data: {"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":12,"outputTokenCount":7,"invocationLatency":811,"firstByteLatency":392}}

`

func TestUnframeSplitAnywhere(t *testing.T) {
	t.Parallel()
	stream := recorded(t, "invoke.bin")
	for i := range len(stream) + 1 {
		if got, err := unframe(stream[:i], stream[i:]); err != nil || got != unframed {
			t.Fatalf("cut at %d: %v\n%s", i, err, got)
		}
	}
}

func chunk(event string) []byte {
	return framed("event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(event))+`","p":"abc"}`)
}

func TestUnframe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		stream []byte
		want   string
		err    bool
	}{
		{"no type", chunk(`{"completion":"a"}`), "data: {\"completion\":\"a\"}\n\n", false},
		{"a type with a line end", chunk(`{"type":"a\nb"}`), "data: {\"type\":\"a\\nb\"}\n\n", false},
		{"line ends between tokens", chunk("{\"type\":\r\n\"ping\"}"), "event: ping\ndata: {\"type\":  \"ping\"}\n\n", false},
		{"another kind of message", framed("event", "initial-response", `{}`), "", false},
		{"exception", framed("exception", "serviceUnavailableException", `{"message":"later"}`),
			"event: error\ndata: {\"error\":{\"message\":\"later\",\"type\":\"overloaded_error\"},\"type\":\"error\"}\n\n", false},
		{"unknown exception", framed("error", "odd", ``), "event: error\ndata: {\"error\":{\"message\":\"odd\",\"type\":\"api_error\"},\"type\":\"error\"}\n\n", false},
		{"nothing behind an exception", append(framed("exception", "throttlingException", `{"message":"m"}`), chunk(`{"type":"ping"}`)...),
			"event: error\ndata: {\"error\":{\"message\":\"m\",\"type\":\"rate_limit_error\"},\"type\":\"error\"}\n\n", false},
		{"no base64", framed("event", "chunk", `{"bytes":"%%%"}`), "", true},
		{"bytes that are no text", framed("event", "chunk", `{"bytes":1}`), "", true},
		{"an event that is no JSON", chunk("hello"), "", true},
		{"cut", chunk(`{"type":"ping"}`)[:30], "", true},
	} {
		got, err := unframe(c.stream)
		if got != c.want || c.err != fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func FuzzUnframe(f *testing.F) {
	f.Add(recorded(f, "invoke.bin"), uint16(100))
	f.Add(chunk(`{"type":"a\u000ab"}`), uint16(20))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		split := min(int(cut), len(stream))
		full, _ := unframe(stream)
		if parts, _ := unframe(stream[:split], stream[split:]); full != parts {
			t.Fatalf("%q\n%q", full, parts)
		}
	})
}

func BenchmarkUnframe(b *testing.B) {
	stream := recorded(b, "invoke.bin")
	var out []byte
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		var u dialect.Unframer
		out, _ = u.Append(out[:0], stream)
	}
}

// What a stream costs: the buffers of its first messages.
func TestUnframeAllocs(t *testing.T) {
	stream := recorded(t, "invoke.bin")
	var u dialect.Unframer
	out, err := u.Append(nil, stream)
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { out, _ = u.Append(out[:0], stream) }); n > 1 {
		t.Errorf("%v allocations for a read, at most 1 before", n)
	}
}
