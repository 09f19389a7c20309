package catalog_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/limits/catalog"
)

// cost is what a thousand tokens of input cost.
func cost(t *catalog.RateCard) int64 { return t.Cost(&catalog.Units{Input: 1000}, nil).Cost }

func TestBook(t *testing.T) {
	t.Parallel()
	now := &clock{time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	src := &files{texts: map[string]string{"pricing/acme": acme}}
	b := catalog.NewPriceList(newCatalog(now, src, catalog.Builtin()))
	reason := func(provider, model string, want catalog.Reason) {
		t.Helper()
		if got := b.Find(provider, model, nil).Reason(); got != want {
			t.Errorf("%s %s: %q, want %q", provider, model, got, want)
		}
	}
	reason("acme", "large", catalog.NotLoaded)
	reason("openai", "gpt-4o", "")
	reason("openai", "gpt-none", catalog.UnknownModel)
	reason("nobody", "large", catalog.NotLoaded)
	reason("No Name", "large", catalog.UnknownProvider)
	if b.Misses(catalog.NotLoaded) != 2 || b.Misses(catalog.UnknownModel) != 1 || b.Misses("") != 0 {
		t.Error("what had no price was not counted")
	}
	if src.reads != 0 {
		t.Errorf("the path of a request asked a source %d times", src.reads)
	}

	for _, provider := range []string{"acme", "openai", "nobody"} {
		if b.Loaded(provider) {
			t.Errorf("the list of %s is loaded before a source was asked", provider)
		}
	}
	was := b.Find("openai", "gpt-4o", nil)
	b.Renew(t.Context())
	for _, provider := range []string{"acme", "openai", "nobody", "No Name"} {
		if !b.Loaded(provider) {
			t.Errorf("the list of %s is not loaded", provider)
		}
	}
	if b.Find("openai", "gpt-4o", nil) != was {
		t.Error("a list that turned out to be the same was made anew")
	}
	reason("acme", "large", "")
	reason("acme", "default", catalog.UnknownModel)
	reason("acme", "free", catalog.NoPrice)
	reason("nobody", "large", catalog.UnknownProvider)
	first := b.Find("acme", "large", nil)
	b.Renew(t.Context())
	if src.reads != 6 || b.Find("acme", "large", nil) != first {
		t.Errorf("asked %d times for six files that are fresh", src.reads)
	}

	now.now = now.now.Add(time.Hour)
	src.texts["pricing/acme"] = strings.ReplaceAll(acme, "0.0002", "0.0004")
	b.Renew(t.Context())
	if got := cost(b.Find("acme", "large", nil)); got != 2*cost(first) {
		t.Errorf("the new price is not there: %d, was %d", got, cost(first))
	}
	now.now = now.now.Add(time.Hour)
	delete(src.texts, "pricing/acme")
	b.Renew(t.Context())
	reason("acme", "large", catalog.UnknownProvider)
}

// What is built in counts until the sources were read, and where they are away.
func TestBookWithoutSources(t *testing.T) {
	t.Parallel()
	b := catalog.NewPriceList(newCatalog(&clock{}, &files{err: errors.New("away")}, catalog.Builtin()))
	before := b.Find("openai", "gpt-4o", nil)
	b.Renew(t.Context())
	if after := b.Find("openai", "gpt-4o", nil); after.Version() != before.Version() || after.Version() == "" {
		t.Errorf("%q, then %q", before.Version(), after.Version())
	}
}

func TestBookReadsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	read := make(chan string)
	b := catalog.NewPriceList(newCatalog(&clock{}, recordingSource{read}))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- b.Run(ctx) }()
	for _, provider := range []string{"acme", "other"} {
		b.Find(provider, "large", nil)
		for _, file := range []string{"prices", "capabilities"} {
			if got := <-read; got != provider {
				t.Errorf("read %s of %s, want those of %s", file, got, provider)
			}
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// recordingSource is a source that says what it was asked for.
type recordingSource struct{ read chan<- string }

func (recordingSource) Name() string { return "told" }

func (s recordingSource) Read(ctx context.Context, _ catalog.Folder, provider string) ([]byte, error) {
	select {
	case s.read <- provider:
	case <-ctx.Done():
	}
	return nil, catalog.ErrNone
}

// Many ask while lists are renewed.
func TestBookIsShared(t *testing.T) {
	t.Parallel()
	b := catalog.NewPriceList(newCatalog(&clock{}, &files{texts: map[string]string{"pricing/acme": acme}}, catalog.Builtin()))
	a := agreement(t, `{"multiplier": {"default": 2}}`, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 200 {
				if i == 0 {
					b.Renew(t.Context())
				} else if cost(b.Find("openai", "gpt-4o", a)) != 5_000_000 {
					t.Error("another price")
				}
			}
		})
	}
	all.Wait()
}

func TestFindingDoesNotAllocate(t *testing.T) {
	b := catalog.NewPriceList(newCatalog(&clock{}, catalog.Builtin()))
	a := agreement(t, `{"multiplier": {"default": 2}}`, map[string]string{"gpt-4o-mini": `{"pay_as_you_go": {"request_token": {"price": 1}}}`})
	if n := testing.AllocsPerRun(100, func() {
		if b.Find("openai", "gpt-4o", nil).Reason()+b.Find("openai", "gpt-4o", a).Reason()+b.Find("openai", "gpt-4o-mini", a).Reason() != "" {
			t.Error("no price")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// agreement makes an Agreement of JSON.
func agreement(t *testing.T, adjustments string, models map[string]string) *catalog.PriceOverrides {
	t.Helper()
	a, err := catalog.ReadAdjustments([]byte(adjustments))
	if err != nil {
		t.Fatal(err)
	}
	overrides := map[string]catalog.Override{}
	for name, text := range models {
		name, base, _ := strings.Cut(name, " of ")
		if overrides[name], err = catalog.ReadOverride(base, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return catalog.NewAgreement(a, overrides)
}

func TestAgreements(t *testing.T) {
	t.Parallel()
	v := readVectors(t)
	b := catalog.NewPriceList(v.catalog())
	b.Find("tokens", "plain", nil)
	b.Find("modes", "four", nil)
	b.Renew(t.Context())
	const dearer = `{"type": "static", "pay_as_you_go": {"request_token": {"price": 7.125}}}`
	a := agreement(t, `{"multiplier": {"response_token": 0.5}}`, map[string]string{
		"mini": dearer, "own": dearer, "tuned of plain": ``, "euro": dearer, "tuned-dear of plain": dearer, "lost of nobody": `{}`, "four": dearer,
		"text-first": dearer, "pictures": dearer,
	})
	for name, c := range map[string]struct {
		provider, model string
		units           catalog.Units
		cost            int64
		reason          catalog.Reason
		unpriced        int
	}{
		"the list, adjusted":        {"tokens", "plain", catalog.Units{Input: 1000, Output: 1000}, 2_500_000 + 5_000_000, "", 0},
		"one rate replaced":         {"tokens", "mini", catalog.Units{Input: 1000, CacheRead: 1000, Output: 1000}, 7_125_000 + 75_000 + 300_000, "", 0},
		"a model of its own":        {"tokens", "own", catalog.Units{Input: 1000}, 7_125_000, "", 0},
		"a rate that it lacks":      {"tokens", "own", catalog.Units{Output: 1}, 0, "", 1},
		"tuned from another":        {"tokens", "tuned", catalog.Units{Input: 1000}, 2_500_000, "", 0},
		"tuned, with a price":       {"tokens", "tuned-dear", catalog.Units{Input: 1000, Output: 1000}, 7_125_000 + 5_000_000, "", 0},
		"tuned from nothing":        {"tokens", "lost", catalog.Units{Input: 1000}, 0, catalog.UnknownModel, 0},
		"a list in another money":   {"tokens", "euro", catalog.Units{Input: 1000}, 7_125_000, "", 0},
		"a narrower name of it":     {"tokens", "text-first", catalog.Units{Input: 1000, Output: 1000}, 7_125_000 + 15_000_000, "", 0},
		"other tokens":              {"tokens", "pictures", catalog.Units{Input: 1000, ImageInput: 1000}, 7_125_000 + 10_000_000, "", 0},
		"modes are not agreed":      {"modes", "four", catalog.Units{Input: 1000, Execution: catalog.Priority}, 7_125_000, "", 0},
		"a batch costs half":        {"modes", "four", catalog.Units{Input: 1000, Execution: catalog.Batch}, 3_562_500, "", 0},
		"what is no token stays":    {"modes", "four", catalog.Units{Searches: 1}, 10_000_000, "", 0},
		"unknown to both":           {"tokens", "nobody", catalog.Units{Input: 1000}, 0, catalog.UnknownModel, 0},
		"a provider without a list": {"nobody", "own", catalog.Units{Input: 1000}, 7_125_000, "", 0},
	} {
		tariff := b.Find(c.provider, c.model, a)
		bill := tariff.Cost(&c.units, nil)
		if bill.Cost != c.cost || bill.Reason != c.reason || len(bill.Unpriced) != c.unpriced {
			t.Errorf("%s: %+v", name, bill)
		}
		if b.Find(c.provider, c.model, a) != tariff {
			t.Errorf("%s: made anew", name)
		}
	}
}

func TestOverridesThatAreNone(t *testing.T) {
	t.Parallel()
	for text, param := range map[string]string{
		`[]`: "pricing_config", `{"kind": "static"}`: "kind", `{"type": "dynamic"}`: "type", `{"pay_as_you_go": 1}`: "pay_as_you_go",
		`{"pay_as_you_go": {"tokens": {"price": 1}}}`: "tokens", `{"pay_as_you_go": {"image": {}}}`: "image",
		`{"pay_as_you_go": {"request_token": {"price": -1}}}`: "request_token", `{"pay_as_you_go": {"request_token": {"price": 5001}}}`: "request_token",
		`{"pay_as_you_go": {"request_token": {"price": "1"}}}`: "request_token", `{"pay_as_you_go": {"request_token": {}}}`: "request_token",
		`{"pay_as_you_go": {"request_token": 1}}`: "request_token",
	} {
		_, err := catalog.ReadOverride("", []byte(text))
		if f := fault.From(err); err == nil || !strings.HasSuffix(f.Param, param) || f.Code != fault.InvalidParameter {
			t.Errorf("%s: %v", text, err)
		}
	}
	if o, err := catalog.ReadOverride("b", []byte(`{"pay_as_you_go": {"request_token": null, "response_token": {"price": 5000}}}`)); err != nil || o.Rates.RequestToken != nil || o.Rates.ResponseToken.Price != 0.5 {
		t.Errorf("%+v %v", o, err)
	}
}

// A name is that of a model where a list or the agreement has a price of it; asking counts no
// miss.
func TestBookHas(t *testing.T) {
	t.Parallel()
	b := catalog.NewPriceList(newCatalog(&clock{}, catalog.Builtin()))
	overrides := catalog.NewAgreement(catalog.Adjustments{}, map[string]catalog.Override{"tuned": {Base: "gpt-4o"}, "mine": {Rates: &catalog.Rates{}}, "blank": {}})
	for name, c := range map[string]struct{ list, agreed bool }{
		"gpt-4o": {true, true}, "tuned": {false, true}, "mine": {false, true}, "blank": {false, false}, "default": {false, false}, "models": {false, false}, "": {false, false},
	} {
		if got, agreed := b.Has("openai", name, nil), b.Has("openai", name, overrides); got != c.list || agreed != c.agreed {
			t.Errorf("%q: %v, agreed %v", name, got, agreed)
		}
	}
	if b.Has("nobody", "gpt-4o", nil) {
		t.Error("a provider without a list has a model")
	}
	for _, r := range catalog.Reasons() {
		if n := b.Misses(r); n != 0 {
			t.Errorf("%d misses: %s", n, r)
		}
	}
}
