package catalog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// PriceList keeps the Tariffs of all models ready. Finding one neither locks nor waits nor
// allocates. The first time that a provider is asked for, its built-in prices count until
// Run has read those of the sources; Run renews them from then on.
type PriceList struct {
	catalog *Catalog
	free    map[string]bool // providers whose models cost nothing, unless a list has them
	refresh chan struct{}   // has an element when a provider is new

	mu    sync.Mutex // held to change lists
	lists atomic.Pointer[map[string]*list]

	misses [len(reasons)]atomic.Uint64 // in the order of reasons
}

// list are the Tariffs of a provider. It never changes.
type list struct {
	digest  digest // of the file that it is made of
	can     digest // of the file of capabilities
	loaded  bool   // the sources were read
	reach   map[string]ContextLimits
	retires map[string]time.Time
	models  map[string]*RateCard
	dated   map[string]*RateCard // the newest dated names of models, by their names without dates
	missing *RateCard            // of a model that is not there
}

// NewPriceList makes a Book over the sources of a Catalog. The models of free providers cost
// nothing where no source has a price of them.
func NewPriceList(c *Catalog, freeProviders ...string) *PriceList {
	b := &PriceList{catalog: c, free: make(map[string]bool, len(freeProviders)), refresh: make(chan struct{}, 1)}
	for _, provider := range freeProviders {
		b.free[provider] = true
	}
	b.lists.Store(new(map[string]*list))
	return b
}

// Find is what a model costs the owner of an Agreement, which may be nil: always a
// Tariff, with a Reason where there is no price.
func (b *PriceList) Find(provider, model string, a *PriceOverrides) *RateCard {
	l := b.list(provider)
	t, ok := aliased(l.models, l.dated, provider, a.base(model))
	switch {
	case ok:
	case b.free[provider]:
		t = free
	default:
		t = l.missing
	}
	t = a.rateCardFor(model, t)
	if t.reason != "" {
		b.misses[slices.Index(reasons[:], t.reason)].Add(1)
	}
	return t
}

// Has reports whether a list, or the Agreement, which may be nil, has a price of a model of
// that name. Other than Find it may be asked about what is no name of a model.
func (b *PriceList) Has(provider, model string, a *PriceOverrides) bool {
	l := b.list(provider)
	t, ok := aliased(l.models, l.dated, provider, a.base(model))
	return ok && t.reason == "" || a.prices(model)
}

// Loaded reports whether what Find says of a provider is of its sources. Until then built-in
// prices stand in, or none.
func (b *PriceList) Loaded(provider string) bool { return b.list(provider).loaded }

// Names are the models of a provider that its list has, in order, but for those that are
// retired by then: nil where none is known. Find has prices of these, too, since calls and
// batches of earlier are billed by them.
func (b *PriceList) Names(provider string, now time.Time) []string {
	l := b.list(provider)
	names := slices.Sorted(maps.Keys(l.models))
	return slices.DeleteFunc(names, func(model string) bool { return !l.availableModels(model, now) })
}

// Misses is how often Find found no price since the start, for a reason.
func (b *PriceList) Misses(r Reason) uint64 {
	if i := slices.Index(reasons[:], r); i >= 0 {
		return b.misses[i].Load()
	}
	return 0
}

// list is that of a provider.
func (b *PriceList) list(provider string) *list {
	if l := (*b.lists.Load())[provider]; l != nil {
		return l
	}
	return b.open(provider)
}

// open begins the list of a provider that nobody has asked for before. What is no name
// of a provider, and more of them than are kept, has none.
func (b *PriceList) open(provider string) *list {
	b.mu.Lock()
	defer b.mu.Unlock()
	lists := *b.lists.Load()
	if l := lists[provider]; l != nil {
		return l
	}
	if !providerName.MatchString(provider) || len(lists) >= maxFiles {
		return &list{missing: unpriced(UnknownProvider), loaded: true}
	}
	got, err := ask(context.Background(), Builtin(), file{PricingFiles, provider}) // is in memory
	l := newList(got, NotLoaded)
	if can, err := ask(context.Background(), Builtin(), file{GeneralFiles, provider}); err == nil {
		l.listedModels(provider, can)
	}
	if err == nil {
		l.missing = unpriced(UnknownModel)
	}
	b.put(provider, l)
	select {
	case b.refresh <- struct{}{}:
	default: // Run was told already
	}
	return l
}

// put publishes a list. The caller holds mu.
func (b *PriceList) put(provider string, l *list) {
	old := *b.lists.Load()
	lists := make(map[string]*list, len(old)+1)
	for name, other := range old {
		lists[name] = other
	}
	lists[provider] = l
	b.lists.Store(&lists)
}

// newList makes the Tariffs of a file; none is there for the reason that is given.
func newList(c content, none Reason) *list {
	l := &list{digest: c.digest, models: make(map[string]*RateCard, len(c.prices)), missing: unpriced(none)}
	for model := range c.prices {
		if model != defaultModel {
			e, _ := c.prices.entryFor("", model)
			l.models[model] = newTariff(c.source, e, Adjustments{})
		}
	}
	l.dated = newestDated(l.models)
	return l
}

// Renew reads the lists of all providers that were asked for, as far as their files are
// older than the Catalog keeps them, and publishes those that changed.
func (b *PriceList) Renew(ctx context.Context) {
	for provider, old := range *b.lists.Load() {
		if ctx.Err() != nil {
			return
		}
		b.renew(ctx, provider, old)
	}
}

// Ready reads the list of one provider as Renew does, and returns when what Find then says
// is not a built-in price that stands in for one that was not read yet.
func (b *PriceList) Ready(ctx context.Context, provider string) error {
	b.renew(ctx, provider, b.list(provider)) //nolint:contextcheck // what it reads is in memory
	return ctx.Err()
}

// renew publishes the list of a provider when it is another one.
func (b *PriceList) renew(ctx context.Context, provider string, old *list) {
	got, err := b.catalog.load(ctx, file{PricingFiles, provider})
	none := UnknownModel
	if err != nil {
		none = UnknownProvider
	}
	can, _ := b.catalog.load(ctx, file{GeneralFiles, provider}) // without a file nothing is known
	same := got.digest == old.digest && old.missing.reason == none
	if ctx.Err() != nil || same && can.digest == old.can && old.loaded {
		return
	}
	l := new(*old)
	if !same {
		l = newList(got, none)
	}
	if !same || can.digest != old.can {
		l.listedModels(provider, can) //nolint:contextcheck // what it reads is in memory
	}
	l.loaded = true
	b.mu.Lock()
	b.put(provider, l)
	b.mu.Unlock()
}

// renewal is how often Run looks whether a file is due.
const renewal = time.Minute

// Run renews the lists until ctx ends: at once when a provider is new, else as often as
// files are due.
func (b *PriceList) Run(ctx context.Context) error {
	tick := time.NewTicker(renewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.refresh:
		case <-tick.C:
		}
		b.Renew(ctx)
	}
}
