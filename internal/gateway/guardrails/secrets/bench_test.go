package secrets_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/secrets"
)

// prompt is 4 KB of a usual prompt with program text and no secret.
var prompt = strings.Repeat(`You are a helpful assistant of the platform team. Review the function below and explain why it fails when the
configuration lacks a region. Answer in short sentences: first the cause, then the fix.
func open(cfg Config) (*Client, error) { if cfg.Region == "" { return nil, errors.New("region is required") }; return dial(cfg.Host) }
The log contains: level=error msg="cannot connect" host=db.internal:5432 attempt=3 request_id=8c1f90ab. The team uses Go 1.26, a table of
retries and a limit of 30 seconds; see https://example.org/docs/retries#limits for the reasons. Do not change the signature.
`, 7)[:4096]

func BenchmarkSecrets_4KB(b *testing.B) {
	r, err := secrets.List()[0].New(check.Params{}, &check.Deps{})
	if err != nil {
		b.Fatal(err)
	}
	in := &check.Input{Texts: []string{prompt}}
	b.SetBytes(int64(len(prompt)))
	b.ReportAllocs()
	for b.Loop() {
		r.Run(context.Background(), in)
	}
}

// Texts of 64 KB in which a credential may begin at every few bytes.
func BenchmarkSecrets_ManyBeginnings(b *testing.B) {
	r, err := secrets.List()[0].New(check.Params{}, &check.Deps{})
	if err != nil {
		b.Fatal(err)
	}
	for _, unit := range []string{"a-", "sk-", "sk-proj-", "glc_-", "eyJ-", "key-dd-", "token:", "is."} {
		b.Run(unit, func(b *testing.B) {
			in := &check.Input{Texts: []string{strings.Repeat(unit, 64<<10/len(unit))}}
			b.SetBytes(64 << 10)
			for b.Loop() {
				r.Run(context.Background(), in)
			}
		})
	}
}
