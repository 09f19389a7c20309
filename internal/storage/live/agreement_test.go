package live_test

import (
	"encoding/json"
	"log/slog"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/catalog"
)

// What an integration says of prices holds for the calls of its providers, and for no
// others'.
func TestAgreements(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	add := func(slug string, integration credential.Integration) {
		t.Helper()
		id := ident.NewID()
		integration.AIProviderID = "openai"
		p.write(resource.Record{Kind: credential.IntegrationKind, ID: id, OrgID: org, Slug: slug, Name: slug, Status: "active"}, integration)
		p.put(credential.ProviderKind, slug, credential.Provider{IntegrationID: id})
	}
	add("listed", credential.Integration{})
	add("dearer", credential.Integration{Adjustments: json.RawMessage(`{"multiplier":{"default":1.5}}`)})
	add("own", credential.Integration{Models: []credential.Model{
		{Slug: "gpt-4o-mini", Enabled: true, Pricing: json.RawMessage(`{"type":"static","pay_as_you_go":{"request_token":{"price":3},"response_token":{"price":9}}}`)},
		{Slug: "tuned", Enabled: true, IsFineTune: true, Base: "gpt-4o-mini"},
	}})
	add("nothing", credential.Integration{Pricing: credential.PricingFree})
	add("mine", credential.Integration{})
	p.put(credential.VirtualKeyKind, "virtual", credential.VirtualKey{Provider: "openai", Pricing: credential.PricingFree})
	p.load()
	prices := catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin()))
	snap := p.dir.Current()
	for _, c := range []struct {
		slug, model string
		want        int64 // nano-dollars for a thousand tokens of input
	}{
		{"listed", "gpt-4o-mini", 150_000},
		{"dearer", "gpt-4o-mini", 225_000},
		{"own", "gpt-4o-mini", 3_000_000},
		{"own", "tuned", 150_000},
		{"nothing", "gpt-4o-mini", 0},
		{"nothing", "unknown", 0},
		{"virtual", "unknown", 0},
	} {
		a := snap.Agreement(snap.FindAccount(workspaceID, c.slug))
		if got := prices.Find("openai", c.model, a).Cost(&catalog.Units{Input: 1000}, nil); got.Cost != c.want || !got.Priced() {
			t.Errorf("%s of @%s: %+v, want %d", c.model, c.slug, got, c.want)
		}
	}
	if snap.Agreement(nil) != nil {
		t.Error("no account has an agreement")
	}
}
