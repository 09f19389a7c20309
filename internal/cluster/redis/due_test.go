package redis_test

import (
	"testing"
	"time"

	"sluice/internal/cluster/redistest"
	"sluice/internal/quota"
)

// eve is two nodes that share a budget of 100, an hour before its reset, and the wire by
// which the first of them reaches Redis.
type eve struct {
	*clock
	server       *redistest.Server
	store        *books
	wire         *redistest.Wire
	first, other *node
}

func newEve(t *testing.T) *eve {
	e := &eve{clock: &clock{now: time.Now().Truncate(time.Millisecond)}, server: redistest.Start(t), store: new(books)}
	e.wire = redistest.Lay(t, e.server)
	m := quota.Meter{Carrier: quota.Carrier{ID: "k", OrgID: "o"}, Entry: "b", NextReset: e.Now().Add(time.Hour)}
	e.store.set(m)
	e.first, e.other = e.boot(t, "a", e.wire.Address), e.boot(t, "b", e.server.Address)
	return e
}

// boot starts a node that has read the store.
func (e *eve) boot(t *testing.T, name, address string) *node {
	o := options(name, at(address), e.store)
	o.Clock, o.Alone = e.clock, true
	m, _, _ := e.store.meter(t.Context(), hold(0).Counter)
	o.Local.Load([]quota.Meter{m})
	return start(t, o)
}

// use makes a call of the first node that is under way until a time, and waits until Redis
// knows it.
func (e *eve) use(t *testing.T, units int64, until time.Duration) {
	t.Helper()
	taken, refused, _ := e.first.take(t, e.Now(), hold(units))
	if refused >= 0 {
		t.Fatal("a call of", units, "is refused")
	}
	e.forward(until)
	e.first.Settle(e.Now(), taken, []int64{units})
}

// said waits until Redis knows what the first node has.
func (e *eve) said(t *testing.T) {
	t.Helper()
	eventually(t, "the first node has said everything", func() bool { return e.first.Err() == nil && e.first.Said() })
}

// TestEndsBehindDue: what a call uses that ends behind a reset counts in the new period,
// though nobody took from the budget since.
func TestEndsBehindDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	e.use(t, 60, time.Hour)
	e.said(t)
	if left := e.other.left(t, hold(0)); left != 40 {
		t.Error("behind the reset are left", left)
	}
}

// TestCutOverDue: of a node that was cut off over a reset counts at least what it used
// behind that, and what Redis knew of it before does not.
func TestCutOverDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	e.said(t)
	e.wire.Cut()
	eventually(t, "the node knows that it is cut off", func() bool { return e.first.Err() != nil })
	e.use(t, 50, time.Hour)
	e.wire.Mend()
	e.said(t)
	if left := e.other.left(t, hold(0)); left != 50 {
		t.Error("behind the reset are left", left)
	}
}

// TestLostBehindDue: a Redis that loses everything behind a reset that is not stored has no
// more left than there is.
func TestLostBehindDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 50, time.Hour)
	e.said(t)
	e.server.Wipe(t)
	eventually(t, "both are back", func() bool {
		_, _, _, err := e.first.Reserve(t.Context(), e.Now(), []quota.Hold{hold(1 << 50)})
		return err == nil && e.first.Said() && e.other.Said()
	})
	if left := e.other.left(t, hold(0)); left != 50 {
		t.Error("behind the reset are left", left)
	}
}

// TestLivesOverDue: what a node used before a reset, and stored only when it began anew behind
// that, does not count.
func TestLivesOverDue(t *testing.T) {
	t.Parallel()
	e := newEve(t)
	e.use(t, 40, 0)
	e.said(t)
	early := quota.Delta{CarrierID: "k", Entry: "b", Units: 40, At: e.Now()}
	e.forward(time.Hour)
	e.other.take(t, e.Now(), hold(10))
	e.first.stop()
	e.store.add(early)
	e.first = e.boot(t, "a", e.wire.Address)
	e.said(t)
	if left := e.other.left(t, hold(0)); left != 90 {
		t.Error("behind the reset are left", left)
	}
}

// TestEarlyOfOthers: what a node used before a reset and has not stored yet does not count
// behind it, whoever stores the reset, by schedule or by hand.
func TestEarlyOfOthers(t *testing.T) {
	t.Parallel()
	for name, reset := range map[string]func(*eve) quota.Meter{
		"by schedule": func(e *eve) quota.Meter {
			e.forward(time.Hour)
			return e.store.add(quota.Delta{CarrierID: "k", Entry: "b", At: e.Now()})[0]
		},
		"by hand": func(e *eve) quota.Meter {
			e.forward(time.Second)
			m, _, _ := e.store.meter(t.Context(), hold(0).Counter)
			m.Reset(e.Now())
			e.store.set(m)
			e.first.Replace("k", []quota.Meter{m})
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEve(t)
			e.use(t, 40, 0)
			e.said(t)
			m := reset(e)
			if m.Due(e.Now()) && e.other.left(t, hold(0)) != 100 {
				t.Error("the reset does not take place")
			}
			e.other.Replace("k", []quota.Meter{m})
			eventually(t, "the reset is said", func() bool { return e.first.Said() && e.other.Said() })
			if left := e.other.left(t, hold(0)); left != 100 {
				t.Error("behind the reset are left", left)
			}
			e.use(t, 30, 0)
			e.said(t)
			early := quota.Delta{CarrierID: "k", Entry: "b", Units: 40, At: e.Now().Add(-2 * time.Hour)}
			e.first.Flushed([]quota.Delta{early}, e.store.add(early))
			eventually(t, "what was early is stored", e.first.Said)
			if left := e.other.left(t, hold(0)); left != 70 {
				t.Error("when all is stored are left", left)
			}
		})
	}
}
