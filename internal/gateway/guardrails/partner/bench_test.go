package partner_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// BenchmarkRun measures a run on 4 KB without the time of the service.
func BenchmarkRun(b *testing.B) {
	text := strings.Repeat("some words, ", 340)
	for id, c := range map[string]struct{ parameters, response string }{
		"zscaler.executePolicy": {`{"policyId":1,"credentials":{"apiKey":"test-key"}}`, `{"action":"ALLOW","detectorResponses":{"pii":{"triggered":false}}}`},
		"azure.pii":             {`{"redact":true,"credentials":{"pii":{"resourceName":"r","apiKey":"test-key"}}}`, `{"results":{"documents":[{"entities":[{"category":"Person"}],"redactedText":"` + strings.Replace(text, "words", "*****", 1) + `"}]}}`},
	} {
		b.Run(id, func(b *testing.B) {
			r := open(b, find(b, id), c.parameters, &check.Deps{Services: returns(200, c.response)})
			in := &check.Input{Phase: guardrail.Input, Texts: []string{text}}
			b.ReportAllocs()
			for b.Loop() {
				if res := r.Run(context.Background(), in); !res.Verdict || res.Error != nil {
					b.Fatalf("result %+v", res)
				}
			}
		})
	}
}
