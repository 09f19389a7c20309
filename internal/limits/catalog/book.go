package catalog

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// PriceList caches the RateCards of all models. Finding one neither locks nor waits nor
// allocates. The first lookup of a provider uses built-in prices until Run has read those of
// the sources. Run renews them from then on.
type PriceList struct {
	catalog *Catalog
	free    map[string]bool // providers whose models cost nothing, unless a list prices them
	refresh chan struct{}   // contains an element if a provider is new

	mu    sync.Mutex // held to change lists
	lists atomic.Pointer[map[string]*list]

	misses [len(reasons)]atomic.Uint64 // in the order of reasons
}

// list contains the RateCards of a provider. It is immutable.
type list struct {
	digest  digest // of the file of prices
	can     digest // of the file of capabilities
	loaded  bool   // the sources were read
	reach   map[string]ContextLimits
	retires map[string]time.Time
	models  map[string]*RateCard
	dated   map[string]*RateCard // the newest dated names of models, by their names without dates
	missing *RateCard            // of a model that is not in the list
}

// NewPriceList returns a PriceList that reads a Catalog. The models of freeProviders cost
// nothing unless a source has a price for them.
func NewPriceList(c *Catalog, freeProviders ...string) *PriceList {
	b := &PriceList{catalog: c, free: make(map[string]bool, len(freeProviders)), refresh: make(chan struct{}, 1)}
	for _, provider := range freeProviders {
		b.free[provider] = true
	}
	b.lists.Store(new(map[string]*list))
	return b
}

// Find returns the RateCard of a model under some PriceOverrides, which may be nil. It is
// never nil; if there is no price it has a Reason.
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

// Has reports whether a list or the PriceOverrides, which may be nil, have a price for a model
// of that name. Unlike Find it does not count misses, so the name need not be that of a model.
func (b *PriceList) Has(provider, model string, a *PriceOverrides) bool {
	l := b.list(provider)
	t, ok := aliased(l.models, l.dated, provider, a.base(model))
	return ok && t.reason == "" || a.prices(model)
}

// Loaded reports whether the prices of a provider come from its sources. Until then Find uses
// built-in prices, or none.
func (b *PriceList) Loaded(provider string) bool { return b.list(provider).loaded }

// Names returns the models in the list of a provider, in order, without those that are retired
// at now; nil if none is known. Find still has prices for retired models, since earlier calls
// and batches are billed by them.
func (b *PriceList) Names(provider string, now time.Time) []string {
	l := b.list(provider)
	names := slices.Sorted(maps.Keys(l.models))
	return slices.DeleteFunc(names, func(model string) bool { return !l.availableModels(model, now) })
}

// Misses returns how often Find found no price for a reason since the start.
func (b *PriceList) Misses(r Reason) uint64 {
	if i := slices.Index(reasons[:], r); i >= 0 {
		return b.misses[i].Load()
	}
	return 0
}

// list returns the list of a provider.
func (b *PriceList) list(provider string) *list {
	if l := (*b.lists.Load())[provider]; l != nil {
		return l
	}
	return b.open(provider)
}

// open starts the list of a provider that is requested for the first time. Invalid provider
// names, and providers beyond maxFiles, have no list.
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
	got, err := ask(context.Background(), Builtin(), file{PricingFiles, provider}) // reads memory only
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
	default: // Run is already notified
	}
	return l
}

// put publishes a list. The caller must hold mu.
func (b *PriceList) put(provider string, l *list) {
	old := *b.lists.Load()
	lists := make(map[string]*list, len(old)+1)
	for name, other := range old {
		lists[name] = other
	}
	lists[provider] = l
	b.lists.Store(&lists)
}

// newList builds the RateCards of a file. none is the reason for models that are not in it.
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

// Renew reads the lists of all requested providers whose cached files have expired, and
// publishes those that changed.
func (b *PriceList) Renew(ctx context.Context) {
	for provider, old := range *b.lists.Load() {
		if ctx.Err() != nil {
			return
		}
		b.renew(ctx, provider, old)
	}
}

// Ready reads the list of one provider as Renew does. After it returns, Find does not use
// built-in prices only because the sources were not read yet.
func (b *PriceList) Ready(ctx context.Context, provider string) error {
	b.renew(ctx, provider, b.list(provider)) //nolint:contextcheck // what it reads is in memory
	return ctx.Err()
}

// renew publishes the list of a provider if it changed.
func (b *PriceList) renew(ctx context.Context, provider string, old *list) {
	got, err := b.catalog.load(ctx, file{PricingFiles, provider})
	none := UnknownModel
	if err != nil {
		none = UnknownProvider
	}
	can, _ := b.catalog.load(ctx, file{GeneralFiles, provider}) // a missing file means that nothing is known
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

// renewal is the interval at which Run checks whether files are due.
const renewal = time.Minute

// Run renews the lists until ctx ends: at once if a provider is new, else when files are due.
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

// Preload reads the price lists of providers. Lists that take longer than timeout are read in the
// background.
func (b *PriceList) Preload(ctx context.Context, providers []string, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var reading sync.WaitGroup
	for _, id := range providers {
		reading.Go(func() { _ = b.Ready(ctx, id) }) // an error means that the time is over
	}
	reading.Wait()
}
