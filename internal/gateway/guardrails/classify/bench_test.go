package classify_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// Each check on a prompt of 4 KB, with the models loaded.
func BenchmarkChecks(b *testing.B) {
	text := strings.Repeat("The committee read the report on housing, and asked the office for a plan by May. "+
		"Some members said that the figures of last year were better; others did not agree. ", 40)[:4096]
	for _, c := range []struct{ id, parameters string }{
		{"gateway.moderateContent", `{"categories":["hate","sexual","violence"]}`},
		{"gateway.promptInjection", `{}`},
		{"gateway.gibberish", `{}`},
		{"gateway.language", `{"language":["eng_Latn"]}`},
	} {
		b.Run(c.id, func(b *testing.B) {
			r, err := open(b, c.id, c.parameters)
			if err != nil {
				b.Fatal(err)
			}
			in := &check.Input{Phase: guardrail.Input, Texts: []string{text}}
			r.Run(context.Background(), in)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Run(context.Background(), in)
			}
		})
	}
}
