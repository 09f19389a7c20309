package pii_test

import (
	"context"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/pii"
)

// prompt is 4 KB of a usual prompt with a few findings.
var prompt = strings.Repeat(`You are a helpful assistant of the support team. Summarise the conversation below in three sentences and list
open questions. The customer, Delphine Aubry, ordered 2 lamps on 17 May 2024 (order 4711-0815) and wrote from d.aubry@example.org that the
parcel went to 19 Mill Road instead. She can be reached at +44 20 7946 0018. Do not promise a refund before the warehouse confirms the
return. Keep the tone friendly, avoid jargon, and mention the warranty of 24 months. Prices are in euros and include 19 % VAT. If the data
is incomplete, ask for it. Version 3.14.2 of the shop changed the layout of invoices; older ones show the address on the second page.
`, 7)[:4096]

func BenchmarkPII_4KB(b *testing.B) {
	p, err := check.ReadParams([]byte(`{"redact":true,"categories":["EMAIL_ADDRESS","PHONE_NUMBER","LOCATION_ADDRESS","NAME","IP_ADDRESS","CREDIT_CARD","SSN"]}`))
	if err != nil {
		b.Fatal(err)
	}
	r, err := pii.List()[0].New(p, &check.Deps{})
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

// Texts of 64 KB in which personal data may begin at every few bytes.
func BenchmarkPII_ManyBeginnings(b *testing.B) {
	p, err := check.ReadParams([]byte(`{"categories":["EMAIL_ADDRESS","PHONE_NUMBER","LOCATION_ADDRESS","NAME","IP_ADDRESS","CREDIT_CARD","SSN","IBAN_CODE","NATIONAL_ID"]}`))
	if err != nil {
		b.Fatal(err)
	}
	r, err := pii.List()[0].New(p, &check.Deps{})
	if err != nil {
		b.Fatal(err)
	}
	for _, unit := range []string{"1 ", "1-1-", "+1+1", "A 1", "a.a.a@"} {
		b.Run(unit, func(b *testing.B) {
			in := &check.Input{Texts: []string{strings.Repeat(unit, 64<<10/len(unit))}}
			b.SetBytes(64 << 10)
			for b.Loop() {
				r.Run(context.Background(), in)
			}
		})
	}
}
