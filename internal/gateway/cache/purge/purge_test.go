package purge_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/gateway/cache/diskstore"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/purge"
	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/storetest"
)

// node is a node with its store. The list is shared by all nodes.
type node struct {
	*purge.Store
	inner   store.Store
	vectors *index.Index
}

func newNode(t *testing.T, inner store.Store, c *storetest.Clock, list *atomic.Pointer[purge.List]) *node {
	t.Helper()
	n := &node{inner: inner, vectors: index.New(c, index.Options{})}
	n.Store = purge.New(purge.Options{Responses: inner, Vectors: n.vectors, Current: list.Load, Log: slog.New(slog.DiscardHandler)})
	return n
}

// put stores a response and its question.
func (n *node) put(t *testing.T, c *storetest.Clock, key byte, model string) {
	t.Helper()
	e := storetest.Entry(c, "body")
	e.Tags.Model = model
	n.Put(t.Context(), storetest.Key(key), e)
	err := n.vectors.Put(t.Context(), vectorstore.Entry{Key: vectorstore.Key(storetest.Key(key)), Vector: []float32{1}, Text: "question", Expires: e.Expires})
	if err != nil {
		t.Fatal(err)
	}
}

func (n *node) has(t *testing.T, key byte) bool {
	t.Helper()
	_, ok := n.Get(t.Context(), storetest.Key(key))
	return ok
}

// await waits until the store of the node has lost an entry.
func (n *node) await(t *testing.T, key byte) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !n.inner.IsMissing(t.Context(), storetest.Key(key)); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("entry %d was not removed", key)
		}
	}
}

// follow runs Follow until the test ends.
func (n *node) follow(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Follow(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// recorded returns a list with one purge of a model, recorded now.
func recorded(c *storetest.Clock, model string) *purge.List {
	return &purge.List{ByOrganisation: map[string][]purge.Purge{"org-1": {{ID: "p1", Filter: entry.Filter{Organisation: "org-1", Model: model, Before: c.Now()}}}}}
}

func TestStore_APurgeReachesEveryNode(t *testing.T) {
	t.Parallel()
	c, list := storetest.NewClock(), new(atomic.Pointer[purge.List])
	first, second := newNode(t, store.NewMemory(1<<20, c), c, list), newNode(t, store.NewMemory(1<<20, c), c, list)
	for _, n := range []*node{first, second} {
		n.put(t, c, 1, "gpt-4o")
		n.put(t, c, 2, "other")
	}
	c.Move(time.Second)
	list.Store(recorded(c, "gpt-4o"))
	if n, err := first.Remove(t.Context(), &purge.Purge{Filter: entry.Filter{Organisation: "org-1", Model: "gpt-4o"}}); n != 1 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	if first.has(t, 1) || second.has(t, 1) || !first.has(t, 2) || !second.has(t, 2) {
		t.Error("the wrong responses are served")
	}
	if got := first.vectors.Stats().Entries; got != 1 {
		t.Errorf("the first node has %d questions, want 1", got)
	}
	second.follow(t)
	second.await(t, 1)
	second.put(t, c, 1, "gpt-4o")
	if !second.has(t, 1) || !second.has(t, 2) {
		t.Error("a response that was stored after the purge is not served")
	}
}

// A node that was down finds its files of before the purge. They are not served, and removed.
func TestStore_APurgeReachesANodeThatWasDown(t *testing.T) {
	t.Parallel()
	c, list, dir := storetest.NewClock(), new(atomic.Pointer[purge.List]), t.TempDir()
	open := func() *node {
		s, err := diskstore.Open(diskstore.Options{Dir: dir, MaxBytes: 1 << 20, Clock: c})
		if err != nil {
			t.Fatal(err)
		}
		return newNode(t, s, c, list)
	}
	n := open()
	n.put(t, c, 1, "gpt-4o")
	n.put(t, c, 2, "other")
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	c.Move(time.Second)
	list.Store(recorded(c, "gpt-4o"))
	n = open()
	defer func() { _ = n.Close() }()
	if n.has(t, 1) || !n.has(t, 2) {
		t.Error("the purged response is served, or the other one is not")
	}
	n.follow(t)
	n.await(t, 1)
	if !n.has(t, 2) {
		t.Error("the other response was removed")
	}
}

// brokenVectors is a vector store that is down.
type brokenVectors struct{ vectorstore.Store }

func (brokenVectors) Delete(context.Context, ...vectorstore.Key) error {
	return vectorstore.ErrUnavailable
}

// Questions that stay are not served without their responses, so the purge succeeds. The log has a line.
func TestRemove_AVectorStoreThatIsDownDoesNotFailAPurge(t *testing.T) {
	t.Parallel()
	c, list, log := storetest.NewClock(), new(atomic.Pointer[purge.List]), new(bytes.Buffer)
	s := purge.New(purge.Options{
		Responses: store.NewMemory(1<<20, c), Vectors: brokenVectors{}, Current: list.Load, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	if n, err := s.Remove(t.Context(), &purge.Purge{Filter: entry.Filter{Organisation: "org-1"}}); n != 1 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	if !strings.Contains(log.String(), "cannot remove the questions") {
		t.Errorf("log %s", log)
	}
}

func TestStore_APurgeOfOneKeyOrAnotherOrganisationHidesNothingElse(t *testing.T) {
	t.Parallel()
	c, list := storetest.NewClock(), new(atomic.Pointer[purge.List])
	n := newNode(t, store.NewMemory(1<<20, c), c, list)
	n.put(t, c, 1, "gpt-4o")
	n.put(t, c, 2, "gpt-4o")
	c.Move(time.Second)
	key := storetest.Key(1)
	list.Store(&purge.List{ByOrganisation: map[string][]purge.Purge{
		"org-1": {{ID: "p1", Key: &key, Filter: entry.Filter{Organisation: "org-1", Before: c.Now()}}},
		"org-2": {{ID: "p2", Filter: entry.Filter{Organisation: "org-2", Before: c.Now()}}},
	}})
	if n.has(t, 1) || !n.has(t, 2) {
		t.Error("the wrong response is served")
	}
	if count, err := n.Remove(t.Context(), &purge.Purge{Key: &key, Filter: entry.Filter{Organisation: "org-2"}}); count != 0 || err != nil {
		t.Errorf("another organisation removed %d responses, %v", count, err)
	}
	if count, err := n.Remove(t.Context(), &purge.Purge{Key: &key, Filter: entry.Filter{Organisation: "org-1"}}); count != 1 || err != nil {
		t.Errorf("%d removed, %v", count, err)
	}
	if got := n.vectors.Stats().Entries; got != 1 {
		t.Errorf("%d questions are left, want 1", got)
	}
}
