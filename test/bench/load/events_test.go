package load

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/test/bench/stat"
)

// Events are found wherever the parts end.
func TestEventsInAnyParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "n")
		sent := time.Now().Add(-time.Second).UnixNano()
		event := rapid.SampledFrom([]string{
			"data: {\"sent_ns\":%d,\"choices\":[]}\n\n",
			"data: {\"choices\":[{\"delta\":{\"content\":\"sent_ns=%d lorem\"}}]}\n\n",
		}).Draw(t, "event")
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, event, sent)
		}
		b.WriteString("data: {\"choices\":[]}\n\ndata: [DONE]\n\n")
		var h stat.Histogram
		e := events{delay: &h}
		for wire := b.String(); wire != ""; {
			k := rapid.IntRange(1, len(wire)).Draw(t, "part")
			e.see([]byte(wire[:k]))
			wire = wire[k:]
		}
		if err := e.check(n); err != nil || e.check(n+1) == nil {
			t.Fatalf("%d events: seen %d, ended %v", n, e.seen, e.ended)
		}
		if n > 0 && (h.Quantile(0) < time.Second || h.Max() > 10*time.Second) {
			t.Fatalf("delays %v to %v", h.Quantile(0), h.Max())
		}
	})
}

func TestStreamWithoutItsEnd(t *testing.T) {
	t.Parallel()
	e := events{delay: new(stat.Histogram)}
	e.see([]byte("data: {\"sent_ns\":1}\n\ndata: [DONE]"))
	if e.check(1) == nil {
		t.Error("a cut stream passes for whole")
	}
	e.reset()
	if e.see([]byte("data: [DONE]\n\n")); e.check(0) != nil {
		t.Error("the remains of one stream spoil the next")
	}
}
