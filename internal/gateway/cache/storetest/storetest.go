// Package storetest is the test suite that every store of the response cache passes. Start with
// Run.
package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/kernel/llm"
)

// Clock is a clock that stands still until it is moved. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

// NewClock returns a clock that starts at the present time, because servers use their own clocks.
func NewClock() *Clock { return &Clock{now: time.Now().UTC().Truncate(time.Millisecond)} }

// Now implements ident.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move advances the clock.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Key returns one of 256 keys for tests. They are spread over shards.
func Key(i byte) cachekey.Key { return cachekey.Key{0: i, 1: 1, 31: i} }

// Entry returns an entry that expires in an hour.
func Entry(c *Clock, text string) *entry.Entry {
	return &entry.Entry{
		Endpoint: llm.ChatComplete, Status: 200, ContentType: "application/json", Body: []byte(text),
		Usage: llm.Usage{OutputTokens: 3, Reported: true}, CostNano: 5, Provider: "openai", Model: "gpt-4o-2024",
		Created: c.Now(), Expires: c.Now().Add(time.Hour),
		Tags: entry.Tags{Organisation: "org-1", Workspace: "ws-1", APIKey: "key-1", Namespace: "n-1", Config: "c-1", Model: "gpt-4o"},
	}
}

// Run tests a store. open returns an empty one, which Run does not close.
func Run(t *testing.T, open func(t *testing.T, c *Clock) store.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, store.Store, *Clock){
		"EntriesComeBack":                  entriesComeBack,
		"ExpiredEntriesAreMisses":          expiredEntriesAreMisses,
		"ANewEntryReplacesTheOld":          newEntryReplacesTheOld,
		"DeleteRemovesOnlySelectedEntries": deleteRemovesOnlySelectedEntries,
		"PurgeRemovesWhatTheFilterSelects": purgeRemovesWhatTheFilterSelects,
		"ConcurrentUseIsSafe":              concurrentUseIsSafe,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := NewClock()
			test(t, open(t, c), c)
		})
	}
}

func entriesComeBack(t *testing.T, s store.Store, c *Clock) {
	want := Entry(c, "body")
	if _, ok := s.Get(t.Context(), Key(1)); ok {
		t.Error("an empty store has an entry")
	}
	s.Put(t.Context(), Key(1), want)
	got, ok := s.Get(t.Context(), Key(1))
	if !ok || !cmp.Equal(want.Body, got.Body) || got.Tags != want.Tags || got.Usage != want.Usage || !got.Expires.Equal(want.Expires) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, ok := s.Get(t.Context(), Key(2)); ok {
		t.Error("another key has the entry")
	}
	if n := s.Stats(); n.Hits != 1 || n.Misses != 2 || n.Stored != 1 || n.Failures+n.Dropped+n.Corrupt != 0 {
		t.Errorf("stats %+v", n)
	}
	if n := s.Stats(); n.Entries != store.Unknown && (n.Entries != 1 || n.Bytes < 4) {
		t.Errorf("stats %+v", n)
	}
}

func expiredEntriesAreMisses(t *testing.T, s store.Store, c *Clock) {
	s.Put(t.Context(), Key(1), Entry(c, "body"))
	c.Move(time.Hour - time.Millisecond)
	if _, ok := s.Get(t.Context(), Key(1)); !ok {
		t.Error("the entry ended early")
	}
	c.Move(time.Millisecond)
	if _, ok := s.Get(t.Context(), Key(1)); ok {
		t.Error("an expired entry is a hit")
	}
	old := Entry(c, "body")
	old.Expires = c.Now()
	s.Put(t.Context(), Key(2), old)
	if _, ok := s.Get(t.Context(), Key(2)); ok {
		t.Error("an entry that had expired before is a hit")
	}
}

func newEntryReplacesTheOld(t *testing.T, s store.Store, c *Clock) {
	s.Put(t.Context(), Key(1), Entry(c, "old"))
	s.Put(t.Context(), Key(1), Entry(c, "new"))
	if got, ok := s.Get(t.Context(), Key(1)); !ok || string(got.Body) != "new" {
		t.Errorf("got %+v", got)
	}
	if n := s.Stats(); n.Entries != store.Unknown && n.Entries != 1 {
		t.Errorf("stats %+v", n)
	}
}

func deleteRemovesOnlySelectedEntries(t *testing.T, s store.Store, c *Clock) {
	s.Put(t.Context(), Key(1), Entry(c, "body"))
	for _, f := range []entry.Filter{{}, {Organisation: "org-2"}, {Organisation: "org-1", Workspace: "ws-2"}} {
		if found, err := s.Delete(t.Context(), Key(1), &f); found || err != nil {
			t.Errorf("%+v: %v %v", f, found, err)
		}
	}
	if _, ok := s.Get(t.Context(), Key(1)); !ok {
		t.Fatal("the entry of another tenant was removed")
	}
	f := entry.Filter{Organisation: "org-1", Workspace: "ws-1"}
	for _, want := range []bool{true, false} {
		if found, err := s.Delete(t.Context(), Key(1), &f); found != want || err != nil {
			t.Errorf("got %v %v, want %v", found, err, want)
		}
	}
	if _, ok := s.Get(t.Context(), Key(1)); ok {
		t.Error("a deleted entry is a hit")
	}
}

func purgeRemovesWhatTheFilterSelects(t *testing.T, s store.Store, c *Clock) {
	put := func(i byte, change func(*entry.Tags)) {
		e := Entry(c, "body")
		change(&e.Tags)
		s.Put(t.Context(), Key(i), e)
	}
	fields := []func(*entry.Tags) *string{
		func(t *entry.Tags) *string { return &t.APIKey }, func(t *entry.Tags) *string { return &t.Namespace },
		func(t *entry.Tags) *string { return &t.Config }, func(t *entry.Tags) *string { return &t.Model },
		func(t *entry.Tags) *string { return &t.Workspace }, func(t *entry.Tags) *string { return &t.Organisation },
	}
	for i, field := range fields {
		put(byte(i), func(tags *entry.Tags) { *field(tags) = "other" })
	}
	put(10, func(*entry.Tags) {})
	put(11, func(*entry.Tags) {})
	c.Move(time.Minute)
	put(12, func(*entry.Tags) {})
	const org, ws = "org-1", "ws-1"
	for _, step := range []struct {
		filter entry.Filter
		want   int
	}{
		{entry.Filter{}, 0},
		{entry.Filter{Organisation: org, Workspace: ws, APIKey: "other"}, 1},
		{entry.Filter{Organisation: org, Workspace: ws, APIKey: "other"}, 0},
		{entry.Filter{Organisation: org, Workspace: ws, Namespace: "other"}, 1},
		{entry.Filter{Organisation: org, Workspace: ws, Config: "other"}, 1},
		{entry.Filter{Organisation: org, Workspace: ws, Model: "other"}, 1},
		{entry.Filter{Organisation: org, Workspace: ws, Before: c.Now()}, 2},
		{entry.Filter{Organisation: org, Workspace: ws}, 1},
		{entry.Filter{Organisation: org}, 1},
		{entry.Filter{Organisation: "other"}, 1},
	} {
		keys, err := s.Purge(t.Context(), &step.filter)
		if len(keys) != step.want || err != nil {
			t.Errorf("%+v: %d removed, want %d, %v", step.filter, len(keys), step.want, err)
		}
		for _, key := range keys {
			if !s.IsMissing(t.Context(), key) {
				t.Errorf("%+v: key %s was removed, and is there", step.filter, key)
			}
		}
	}
	if n := s.Stats(); n.Entries != store.Unknown && n.Entries != 0 {
		t.Errorf("stats %+v", n)
	}
}

func concurrentUseIsSafe(t *testing.T, s store.Store, c *Clock) {
	var all sync.WaitGroup
	for i := range byte(8) {
		all.Go(func() {
			for j := range byte(50) {
				text := fmt.Sprint("body ", j%16)
				s.Put(t.Context(), Key(j%16), Entry(c, text))
				if e, ok := s.Get(t.Context(), Key(j%16)); ok && string(e.Body) != text {
					t.Errorf("got %s, want %s", e.Body, text)
				}
				if j%10 == i {
					_, _ = s.Delete(t.Context(), Key(j%16), &entry.Filter{Organisation: "org-1"})
				}
			}
		})
	}
	all.Wait()
}
