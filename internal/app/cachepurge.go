package app

import (
	"context"
	"sync/atomic"

	"sluice/internal/domain/respcache"
	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/purge"
	"sluice/internal/storage/live"
)

// cachePurger removes cached responses for the administration. It implements configs.CachePurger. The
// other nodes read the record of the purge.
type cachePurger struct{ store *purge.Store }

// Purge implements configs.CachePurger.
func (p cachePurger) Purge(ctx context.Context, f *respcache.Filter) (int, error) {
	out, ok := purgeOf(&respcache.Purge{Filter: *f})
	if !ok {
		return 0, nil // the administration checked the form
	}
	out.Filter.Before = f.Before
	return p.store.Remove(ctx, &out)
}

// purgeOf converts a purge. It reports false for a cache key in another form.
func purgeOf(p *respcache.Purge) (purge.Purge, bool) {
	f := &p.Filter
	out := purge.Purge{ID: p.ID, Filter: entry.Filter{
		Organisation: f.Organisation, Workspace: f.Workspace, APIKey: f.APIKey, Namespace: f.Namespace, Config: f.Config, Model: f.Model, Before: p.Until(),
	}}
	if f.Key == "" {
		return out, true
	}
	key, ok := cachekey.Parse(f.Key)
	out.Key = &key
	return out, ok
}

// purgeList converts the purges of the snapshot, each list once. It is safe for concurrent use.
type purgeList struct {
	purges func() *live.Purges
	last   atomic.Pointer[convertedPurges]
}

type convertedPurges struct {
	from *live.Purges
	list *purge.List
}

// current returns the recorded purges; nil before they are known.
func (l *purgeList) current() *purge.List {
	from := l.purges()
	if from == nil {
		return nil
	}
	if last := l.last.Load(); last != nil && last.from == from {
		return last.list
	}
	list := &purge.List{ByOrganisation: make(map[string][]purge.Purge)}
	for _, p := range from.All() {
		if out, ok := purgeOf(p); ok {
			list.ByOrganisation[p.Filter.Organisation] = append(list.ByOrganisation[p.Filter.Organisation], out)
		}
	}
	l.last.Store(&convertedPurges{from, list})
	return list
}
