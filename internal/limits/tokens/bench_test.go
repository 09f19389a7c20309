package tokens_test

import (
	"runtime"
	"strings"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/limits/tokens"
)

func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{
		"words":   strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1000),
		"base64":  strings.Repeat("TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24", 750),
		"blanks":  strings.Repeat(" ", 45_000),
		"capital": strings.Repeat("A", 45_000),
		"han":     strings.Repeat("春眠不覺曉處處聞啼鳥", 1500),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				counter.Text(text, "gpt-4o")
			}
		})
	}
}

func BenchmarkBoundRequest(b *testing.B) {
	body := []byte(`{"messages":` + jargon + `}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		tokens.MaxRequestTokens(llm.ChatComplete, body, "gpt-4o")
	}
}

func BenchmarkRequest(b *testing.B) {
	body := []byte(`{"messages":` + jargon + `}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		counter.Request(llm.ChatComplete, body, "gpt-4o")
	}
}

// BenchmarkLoad reports what a vocabulary keeps; run it with -benchtime 1x, because a
// process loads each once.
func BenchmarkLoad(b *testing.B) {
	for _, model := range []string{"gpt-4o", "gpt-4"} {
		b.Run(model, func(b *testing.B) {
			before := heap()
			for b.Loop() {
				tokens.New().Text("a", model)
			}
			b.ReportMetric(float64(heap()-before)/(1<<20), "MB-kept")
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
