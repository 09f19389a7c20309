package dialect_test

import (
	"strings"
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/llm"
)

// Servers write errors into a stream as lines that no client reads: in a field "error", as old
// llama.cpp, or as a mere object. Callers get them in the shape of the surface.
func TestErrorsOutsideDataKeepTheirReason(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]string{
		"a field":             `error: {"code":503,"message":"Loading model","type":"unavailable_error"}`,
		"a field, wrapped":    `error: {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`,
		"an object":           `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`,
		"an object with text": `{"error": "Loading model","code":503}`,
	} {
		for ep, first := range firstEvents {
			for _, end := range []string{"\n\n", "\n", ""} {
				for _, size := range []int{1, 1 << 20} {
					for _, want := range []bool{false, true} {
						s := dialect.NewStream(dialect.StreamOptions{Endpoint: ep, CollectText: want})
						var out []byte
						for left := first + event + end; left != ""; {
							n := min(size, len(left))
							out = append(out, s.Feed([]byte(left[:n]))...)
							left = left[n:]
						}
						last := s.End()
						out = append(out, last.Tail...)
						if !last.Failed || last.UpstreamError != "Loading model" {
							t.Errorf("%s on %s, %q: on record %+v", name, ep, end, last)
						}
						if got := lastError(t, string(out)); got.Message != "Loading model" || !strings.HasPrefix(string(out), first) {
							t.Errorf("%s on %s, %q, in reads of %d: %s", name, ep, end, size, out)
						}
					}
				}
			}
		}
	}
	var got []byte
	r := dialect.EventReader{}
	if err := r.Feed([]byte(firstEvents[llm.ChatComplete]+"error: {\"code\":503,\"message\":\"Loading model\"}\n\n"), func(_, data []byte) error {
		got = append(got[:0], data...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if ev, ok := upstreamerror.ReadEvent(got); !ok || ev.Text != "Loading model" {
		t.Errorf("decoders see %s", got)
	}
}
