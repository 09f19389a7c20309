package redis_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/redis"
	"sluice/internal/limits/redistest"
)

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// books are the store as it is specified: what of each budget was used, and when it was
// reset.
type books struct {
	mu     sync.Mutex
	meters map[quota.CounterID]quota.Meter
	err    error // of every question
}

func (b *books) meter(_ context.Context, id quota.CounterID) (quota.Meter, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, ok := b.meters[id]
	return m, ok, b.err
}

// add is what CountUsage of the store does.
func (b *books) add(deltas ...quota.Delta) (after []quota.Meter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range deltas {
		m := b.meters[d.CounterID()]
		if m.Due(d.UsedAt) && m.LastReset.Before(m.NextReset) {
			m.Used, m.LastReset = 0, m.NextReset
		}
		if !d.UsedAt.Before(m.LastReset) {
			m.Used += d.Units
		}
		b.meters[d.CounterID()] = m
		after = append(after, m)
	}
	return after
}

func (b *books) set(m quota.Meter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.meters == nil {
		b.meters = map[quota.CounterID]quota.Meter{}
	}
	b.meters[m.CounterID()] = m
}

// node is a node with a bank that it shares.
type node struct {
	*redis.Limiter
	local *quota.Limiter
	stop  func() // ends it as a signal does
}

// options of a node, but those that a test gives.
func options(name string, server redis.Server, b *books) redis.Options {
	return redis.Options{Node: name, Server: server, Local: quota.NewLimiter(), Meters: b.meter, Grace: -1, Logger: slog.New(slog.DiscardHandler)}
}

// start runs a node until the test ends or stop is called.
func start(t testing.TB, o redis.Options) *node {
	t.Helper()
	b, err := redis.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	n := &node{Limiter: b, local: o.Local}
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(n.stop)
	return n
}

func redisServer(addresses ...string) redis.Server {
	return redis.Server{Addresses: addresses, Cluster: len(addresses) > 1, Timeout: 2 * time.Second}
}

// take reserves holds, which must not fail.
func (n *node) take(t testing.TB, now time.Time, holds ...quota.Hold) (taken []quota.Hold, refused int, left int64) {
	t.Helper()
	refused, left, _, err := n.Reserve(t.Context(), now, holds)
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	return holds, refused, left
}

// left is what a budget has for a call, as Redis says: more than any budget has is asked.
func (n *node) left(t testing.TB, h quota.Hold) int64 {
	t.Helper()
	h.Amount = 1 << 50
	_, refused, left := n.take(t, time.Now(), h)
	if refused != 0 {
		t.Fatal("a budget without end")
	}
	return left
}

// eventually waits until ok, for as long as a slow machine may take.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within a minute: " + what)
		}
	}
}

// hold is one of a budget of 100 in the organisation "o".
func hold(amount int64) quota.Hold {
	return quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: "b"}, Org: "o", Measure: quota.Cost, Amount: amount, Limit: 100}
}

func tokens(amount, limit int64) quota.Hold {
	return quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: "tokens/rpm"}, Org: "o", Measure: quota.TokenCount, Amount: amount, Limit: limit, Unit: quota.PerMinute}
}

func requests(limit int64) quota.Hold {
	return quota.Hold{Counter: quota.CounterID{Subject: "k", Entry: "requests/rpm"}, Org: "o", Measure: quota.Calls, Amount: 1, Limit: limit, Unit: quota.PerMinute, Spent: true}
}

// single is a node on a server of its own, with an empty store.
func single(t testing.TB) (*node, *redistest.Server, *books) {
	t.Helper()
	s, b := redistest.Start(t), new(books)
	return start(t, options("a", redisServer(s.Address), b)), s, b
}
