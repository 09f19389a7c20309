package store_test

import (
	"testing"
	"time"

	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/storetest"
	"sluice/internal/kernel/ident"
)

func TestMemoryIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(_ *testing.T, c *storetest.Clock) store.Store { return store.NewMemory(1<<20, c) })
}

func TestMemoryNeverExceedsItsBytes(t *testing.T) {
	t.Parallel()
	c := storetest.NewClock()
	e := storetest.Entry(c, "body")
	s := store.NewMemory(3*e.Size(), c)
	for i := range byte(4) {
		s.Put(t.Context(), storetest.Key(i), e)
		s.Get(t.Context(), storetest.Key(0)) // stays the latest
	}
	for i, want := range []bool{true, false, true, true} {
		if _, ok := s.Get(t.Context(), storetest.Key(byte(i))); ok != want {
			t.Errorf("entry %d: %v, want %v", i, ok, want)
		}
	}
	if n := s.Stats(); n.Entries != 3 || n.Bytes != 3*e.Size() || n.Evictions != 1 {
		t.Errorf("stats %+v", n)
	}
}

func TestALargeEntryIsDroppedTogetherWithTheOlderOne(t *testing.T) {
	t.Parallel()
	c := storetest.NewClock()
	s := store.NewMemory(8<<10, c)
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "old"))
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, string(make([]byte, 9<<10))))
	if e, ok := s.Get(t.Context(), storetest.Key(1)); ok {
		t.Errorf("got %s", e.Body)
	}
	if n := s.Stats(); n.Dropped != 1 || n.Entries != 0 {
		t.Errorf("stats %+v", n)
	}
}

// The figures of the memory: go test -run xxx -bench . -benchmem ./internal/gateway/cache/store
func BenchmarkMemoryGet(b *testing.B) {
	s := store.NewMemory(1<<30, ident.System{})
	c := storetest.NewClock()
	e := storetest.Entry(c, "body")
	e.Expires = time.Now().Add(time.Hour)
	for i := range 256 {
		s.Put(b.Context(), storetest.Key(byte(i)), e)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := byte(0); pb.Next(); i++ {
			if _, ok := s.Get(b.Context(), storetest.Key(i)); !ok {
				b.Error("a miss")
			}
		}
	})
}
