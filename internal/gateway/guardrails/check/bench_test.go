package check_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/llm"
)

// prompt is English text of 4 KB.
var prompt = strings.Repeat("The quick brown fox jumps over the lazy dog, and then it reads a long letter. ", 53)[:4096]

// tenChecks is a usual guardrail.
var tenChecks = []struct{ id, parameters string }{
	{"default.contains", `{"words":["password","api key","confidential","internal only","secret"],"operator":"none"}`},
	{"default.regexMatch", `{"rule":"\\b[0-9]{3}-[0-9]{2}-[0-9]{4}\\b","not":true}`},
	{"default.regexMatch", `{"rule":"(?i)ignore (all|any) (previous|prior) instructions","not":true}`},
	{"default.regexReplace", `{"rule":"/sk-[A-Za-z0-9]{20,64}/g"}`},
	{"default.wordCount", `{"maxWords":5000}`},
	{"default.characterCount", `{"maxCharacters":20000}`},
	{"default.sentenceCount", `{"maxSentences":500}`},
	{"default.endsWith", `{"suffix":"exit","not":true}`},
	{"default.modelWhitelist", `{"models":["gpt-4o-mini","gpt-4o"]}`},
	{"default.requestParams", `{"tools":{"blockedTypes":["web_search"]},"params":{"blockedKeys":["logit_bias"],"values":{"n":{"allowedValues":[1]}}}}`},
}

// BenchmarkTenChecks runs ten built-in checks on a prompt of 4 KB. The aim is 300 µs.
func BenchmarkTenChecks(b *testing.B) {
	for name, text := range map[string]string{"plain": prompt, "umlauts": strings.ReplaceAll(prompt, "o", "ö"), "disguised": strings.ReplaceAll(prompt, "letter", "let\u00adter")} {
		b.Run(name, func(b *testing.B) {
			var runners []check.Runner
			for _, c := range tenChecks {
				runners = append(runners, open(b, c.id, c.parameters, nil))
			}
			body := []byte(`{"model":"gpt-4o-mini","n":1,"messages":[{"role":"user","content":"` + text + `"}]}`)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				in := &check.Input{Phase: guardrail.Input, Texts: []string{text}, Body: body, Endpoint: llm.ChatComplete, Model: "gpt-4o-mini"}
				in.Share()
				for _, r := range runners {
					if got := r.Run(context.Background(), in); !got.Verdict {
						b.Fatal(got.Data)
					}
				}
			}
		})
	}
}

// BenchmarkWindow judges the text of one stream event together with its window. The aim is 20 µs.
func BenchmarkWindow(b *testing.B) {
	for _, c := range []struct{ name, id, parameters string }{
		{"contains", "default.contains", `{"words":["password","api key","confidential","internal only","secret"],"operator":"none"}`},
		{"regexMatch", "default.regexMatch", `{"rule":"\\b[0-9]{3}-[0-9]{2}-[0-9]{4}\\b","not":true}`},
		{"regexReplace", "default.regexReplace", `{"rule":"/sk-[A-Za-z0-9]{20,64}/g"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := open(b, c.id, c.parameters, nil)
			text := prompt[:min(2*window(r)+20, len(prompt))]
			b.ReportMetric(float64(len(text)), "chars")
			b.ReportAllocs()
			for b.Loop() {
				if got := r.Run(context.Background(), &check.Input{Phase: guardrail.Output, Texts: []string{text}}); !got.Verdict {
					b.Fatal(got.Data)
				}
			}
		})
	}
}
