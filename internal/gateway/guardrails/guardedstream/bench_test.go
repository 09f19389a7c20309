package guardedstream_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/guardedstream"
)

// BenchmarkWindow passes one event with a token, with a window of 256 characters.
func BenchmarkWindow(b *testing.B) {
	for _, surface := range surfaces {
		for _, window := range []int{0, 256} {
			b.Run(fmt.Sprintf("%s/%d", surface, window), func(b *testing.B) {
				events := strings.SplitAfter(streamOf(surface, split(strings.Repeat("word of text. ", 400), 5)...), "\n\n")
				events = events[5 : len(events)-10]
				var s *guardedstream.Stream
				var out []byte
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if i%len(events) == 0 {
						s = guardedstream.New(surface, silent(window), guardedstream.Options{})
					}
					out, _ = s.Append(b.Context(), out[:0], []byte(events[i%len(events)]))
				}
			})
		}
	}
}
