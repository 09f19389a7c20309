package redis_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
)

// traffic is calls of many nodes that share a budget, and the sum of what they used and
// hold, which is never above its limit.
type traffic struct {
	testing.TB
	store  *books
	server *redistest.Server
	nodes  []*shop
	total  atomic.Int64 // used and held
	used   atomic.Int64
	passed atomic.Int64
	stop   chan struct{}
}

// shop is one of the nodes, and what it has used and not stored.
type shop struct {
	*node
	wire      *redistest.Wire
	mu        sync.Mutex // guards owed, and the bank with it
	unflushed int64
}

const trafficLimit = 5000

func budgetOfAll(amount int64) quota.Hold {
	h := hold(amount)
	h.Limit = trafficLimit
	return h
}

// TestAmidTraffic: callers of three nodes, each of which stores what was used and is cut off
// from Redis now and then, while Redis loses everything now and then, do not pass a limit,
// and in the end Redis and the store have what was used.
func TestAmidTraffic(t *testing.T) {
	t.Parallel()
	c := &traffic{TB: t, store: new(books), server: redistest.Start(t), stop: make(chan struct{})}
	c.store.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", Limit: trafficLimit})
	for i := range 3 {
		s := &shop{wire: redistest.NewWire(t, c.server)}
		o := options(fmt.Sprint("n", i), redisServer(s.wire.Address), c.store)
		o.Grace = 0
		o.Local.Load([]quota.Meter{c.meter()})
		s.node = start(t, o)
		c.nodes = append(c.nodes, s)
	}
	var all sync.WaitGroup
	for i, s := range c.nodes {
		for k := range 8 {
			all.Go(func() { c.call(s, rand.New(rand.NewPCG(uint64(i), uint64(k)))) })
		}
		all.Go(func() {
			for !c.finished() {
				c.flush(s)
				time.Sleep(30 * time.Millisecond)
			}
		})
	}
	for _, disrupt := range []func(*shop){c.cut, c.wipe, c.cut, c.reloadMeters} {
		for _, s := range c.nodes[1:] {
			before := c.passed.Load()
			disrupt(s)
			eventually(t, "calls pass again", func() bool { return c.passed.Load() > before+100 || c.total.Load() > trafficLimit/2 })
		}
	}
	close(c.stop)
	all.Wait()
	for _, s := range c.nodes {
		c.flush(s)
	}
	for _, s := range c.nodes {
		eventually(t, "all is said", func() bool { return s.Err() == nil && s.IsPublished() })
	}
	if left, stored := c.nodes[0].left(t, budgetOfAll(0)), c.meter().Used; stored != c.used.Load() || left != trafficLimit-stored {
		t.Errorf("%d were used, %d are stored, of %d are left %d", c.used.Load(), stored, trafficLimit, left)
	}
}

func (c *traffic) finished() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

func (c *traffic) meter() quota.Meter {
	m, _, _ := c.store.meter(c.Context(), hold(0).Counter) // the books do not fail
	return m
}

// call makes one call behind another.
func (c *traffic) call(s *shop, r *rand.Rand) {
	for !c.finished() {
		holds := []quota.Hold{budgetOfAll(1 + r.Int64N(40))}
		if refused, _, _, err := s.Reserve(c.Context(), time.Now(), holds); err != nil || refused >= 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		held := holds[0].Amount
		if now := c.total.Add(held); now > trafficLimit {
			c.Errorf("%d are used and held", now)
		}
		if r.IntN(4) == 0 {
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		}
		used := r.Int64N(held/4 + 1)
		c.total.Add(used - held) // before others may have it
		c.used.Add(used)
		c.passed.Add(1)
		s.mu.Lock()
		s.Settle(time.Now(), holds, []int64{used})
		s.unflushed += used
		s.mu.Unlock()
	}
}

// flush stores what a node used.
func (c *traffic) flush(s *shop) {
	_ = s.Sync(func() error { // which cannot fail
		s.mu.Lock()
		d := quota.Delta{SubjectID: "k", BudgetKey: "b", Units: s.unflushed, UsedAt: time.Now()}
		s.unflushed = 0
		s.mu.Unlock()
		if d.Units > 0 {
			s.MarkFlushed([]quota.Delta{d}, c.store.add(d))
		}
		return nil
	})
}

func (c *traffic) cut(s *shop) {
	s.wire.Cut()
	eventually(c, "the node knows that it is cut off", func() bool { return s.Err() != nil })
	s.wire.Restore()
}

func (c *traffic) wipe(*shop) { c.server.Wipe(c) }

func (c *traffic) reloadMeters(s *shop) {
	_ = s.Sync(func() error { // which cannot fail
		s.Replace("k", []quota.Meter{c.meter()})
		return nil
	})
}
