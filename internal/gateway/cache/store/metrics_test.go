package store_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/storetest"
)

func TestTheFiguresAreMetrics(t *testing.T) {
	t.Parallel()
	c := storetest.NewClock()
	s := store.NewMemory(1<<20, c)
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	s.Get(t.Context(), storetest.Key(1))
	s.Get(t.Context(), storetest.Key(2))
	s.Get(t.Context(), storetest.Key(3))
	want := `
# HELP sluice_cache_entries Responses in the cache.
# TYPE sluice_cache_entries gauge
sluice_cache_entries{store="memory"} 1
# HELP sluice_cache_lookups_total Lookups in the cache, by result.
# TYPE sluice_cache_lookups_total counter
sluice_cache_lookups_total{result="hit",store="memory"} 1
sluice_cache_lookups_total{result="miss",store="memory"} 2
`
	collector := store.NewCollector(s, "memory")
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), "sluice_cache_entries", "sluice_cache_lookups_total"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(collector); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// shared is a store whose entries are unknown.
type shared struct{ store.Store }

func (shared) Stats() store.Stats {
	return store.Stats{Entries: store.Unknown, Bytes: store.Unknown}
}

func TestUnknownFiguresAreOmitted(t *testing.T) {
	t.Parallel()
	if n := testutil.CollectAndCount(store.NewCollector(shared{}, "redis"), "sluice_cache_entries", "sluice_cache_bytes"); n != 0 {
		t.Errorf("%d metrics", n)
	}
}
