package dialect_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/kernel/fault"
)

// The streams in testdata were written by the encoder of the official client:
// github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.25.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// framed is one message with the headers that Bedrock sends.
func framed(typ, name, payload string) []byte {
	var headers []byte
	kind := map[string]string{"event": ":event-type", "exception": ":exception-type", "error": ":error-code"}[typ]
	for _, h := range [][2]string{{kind, name}, {":message-type", typ}} {
		headers = append(append(append(headers, byte(len(h[0]))), h[0]...), 7)
		headers = append(binary.BigEndian.AppendUint16(headers, uint16(len(h[1]))), h[1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// readFrames reads the pieces of a stream and lists its messages.
func readFrames(chunks ...[]byte) (list []string, err error) {
	var r dialect.FrameReader
	for _, p := range chunks {
		if err = r.Feed(bytes.Clone(p), func(f *dialect.Frame) error {
			list = append(list, fmt.Sprintf("%s %s %s", f.Type, f.Name, f.Payload))
			return nil
		}); err != nil {
			return list, err
		}
	}
	return list, r.Close()
}

func TestFramesSplitAnywhere(t *testing.T) {
	t.Parallel()
	want := []string{"event chunk {}", `exception throttlingException {"message":"Too many requests, please wait before trying again."}`}
	stream := recorded(t, "headers.bin")
	for i := range len(stream) + 1 {
		got, err := readFrames(stream[:i], stream[i:])
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("cut at %d: %q, %v", i, got, err)
		}
	}
}

// Every byte of a message is covered by one of its checksums.
func TestFramesRefuseChangedBytes(t *testing.T) {
	t.Parallel()
	stream := recorded(t, "headers.bin")
	for i := range stream {
		bad := bytes.Clone(stream)
		bad[i] ^= 0x20
		if _, err := readFrames(bad); !fault.Has(err, fault.UpstreamInvalid) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}

func TestFramesRefuse(t *testing.T) {
	t.Parallel()
	prelude := func(total, headers uint32) []byte {
		b := binary.BigEndian.AppendUint32(nil, total)
		b = binary.BigEndian.AppendUint32(b, headers)
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	}
	sealed := func(headers string) []byte {
		b := append(prelude(uint32(16+len(headers)), uint32(len(headers))), headers...)
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	}
	for name, stream := range map[string][]byte{
		"text":                      []byte(`{"message":"not a stream at all"}`),
		"a message too large":       prelude(17<<20, 0),
		"headers too large":         prelude(1<<20, 129<<10),
		"headers beyond the end":    prelude(20, 8),
		"shorter than its frame":    prelude(15, 0),
		"cut inside":                recorded(t, "headers.bin")[:40],
		"a header without a value":  sealed("\x01a"),
		"a header of unknown kind":  sealed("\x01a\x0a"),
		"a header that is cut":      sealed("\x01a\x07\x00\x09x"),
		"a header without a length": sealed("\x01a\x07\x00"),
	} {
		if got, err := readFrames(stream); !fault.Has(err, fault.UpstreamInvalid) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A stream that announces large messages costs no memory until they come.
func TestFramesAreRefusedEarly(t *testing.T) {
	t.Parallel()
	var r dialect.FrameReader
	if err := r.Feed(bytes.Repeat([]byte{0xff}, 12), func(*dialect.Frame) error { return nil }); !fault.Has(err, fault.UpstreamInvalid) {
		t.Errorf("got %v", err)
	}
}

func TestException(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		frame []byte
		want  dialect.Exception
	}{
		{framed("exception", "throttlingException", `{"message":"slow down"}`), dialect.Exception{Name: "throttlingException", Message: "slow down", Status: 429}},
		{framed("exception", "modelStreamErrorException", `{"message":"m","originalStatusCode":500}`), dialect.Exception{Name: "modelStreamErrorException", Message: "m", Status: 424}},
		{framed("exception", "validationException", `{"Message":"bad"}`), dialect.Exception{Name: "validationException", Message: "bad", Status: 400}},
		{framed("exception", "somethingNew", ``), dialect.Exception{Name: "somethingNew", Message: "somethingNew", Status: 500}},
	} {
		var r dialect.FrameReader
		if err := r.Feed(c.frame, func(f *dialect.Frame) error {
			if got, ok := f.Exception(); !ok || got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(recorded(f, "headers.bin"), uint16(7))
	f.Add(recorded(f, "invoke.bin"), uint16(300))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		split := min(int(cut), len(stream))
		full, fullErr := readFrames(stream)
		parts, partsErr := readFrames(stream[:split], stream[split:])
		if strings.Join(full, "\n") != strings.Join(parts, "\n") || (fullErr == nil) != (partsErr == nil) {
			t.Fatalf("%q, %v\n%q, %v", full, fullErr, parts, partsErr)
		}
	})
}
