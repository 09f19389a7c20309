package redis_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
)

// TestRefused: a node that does not reach Redis refuses calls with limits, with a reason
// and a time, lets all others through, and says so; then it goes on by itself.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	wire := redistest.NewWire(t, s)
	n := start(t, options("a", redisServer(wire.Address), new(books)))
	taken, _, _ := n.take(t, time.Now(), hold(40))
	wire.Cut()
	_, _, _, err := n.Reserve(t.Context(), time.Now(), []quota.Hold{hold(10)})
	if f := fault.From(err); f.Code != fault.Overloaded || f.Retry != time.Second {
		t.Errorf("refused with %+v", err)
	}
	if i, _, _, err := n.Reserve(t.Context(), time.Now(), nil); i != -1 || err != nil {
		t.Error("a call without limits is refused:", err)
	}
	eventually(t, "the node says why", func() bool { return n.Err() != nil })
	n.Settle(time.Now(), taken, []int64{25})
	wire.Restore()
	eventually(t, "what ended meanwhile counts once", func() bool { return n.Err() == nil && n.left(t, hold(0)) == 75 })
}

// TestAlone: where it may, a node goes on by what it knows, and what it used then counts
// once when Redis is back.
func TestAlone(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	wire := redistest.NewWire(t, s)
	o := options("a", redisServer(wire.Address), b)
	o.Alone = true
	alone, other := start(t, o), start(t, options("b", redisServer(s.Address), b))
	other.take(t, time.Now(), hold(30))
	first, _, _ := alone.take(t, time.Now(), hold(10)) // it hears of the 30
	wire.Cut()
	second, refused, _ := alone.take(t, time.Now(), hold(50))
	if refused != -1 {
		t.Fatal("refused alone:", refused)
	}
	if _, refused, left := alone.take(t, time.Now(), hold(11)); refused != 0 || left != 10 {
		t.Error("beyond what was left when Redis went:", refused, left)
	}
	alone.Settle(time.Now(), second, []int64{20})
	wire.Restore()
	eventually(t, "what was used alone counts", func() bool { return alone.Err() == nil && other.left(t, hold(0)) == 100-30-10-20 })
	alone.Settle(time.Now(), first, []int64{0})
	eventually(t, "and what is given back", func() bool { return other.left(t, hold(0)) == 100-30-20 })
}

// TestDeaf: what Redis did and nobody heard of counts once: a call whose answer is lost is
// refused and holds nothing, one that ended counts with what it used.
func TestDeaf(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	wire := redistest.NewWire(t, s)
	n, other := start(t, options("a", redisServer(wire.Address), b)), start(t, options("b", redisServer(s.Address), b))
	taken, _, _ := n.take(t, time.Now(), hold(40))
	for range 3 {
		wire.Deafen()
		if _, _, _, err := n.Reserve(t.Context(), time.Now(), []quota.Hold{hold(10)}); err == nil {
			t.Error("taken without an answer")
		}
		n.Settle(time.Now(), taken, []int64{5})
		eventually(t, "nothing is heard", func() bool { return n.Err() != nil })
		wire.Clear()
		eventually(t, "the node is back", func() bool { return n.Err() == nil && n.IsPublished() })
		taken, _, _ = n.take(t, time.Now(), hold(40))
	}
	if left := other.left(t, hold(0)); left != 100-15-40 {
		t.Error("left is", left)
	}
}

// TestSlow: answers that take their time are waited for.
func TestSlow(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	wire := redistest.NewWire(t, s)
	n := start(t, options("a", redisServer(wire.Address), new(books)))
	n.take(t, time.Now(), hold(1))
	wire.Slow(50 * time.Millisecond)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { n.take(t, time.Now(), hold(1)) })
	}
	all.Wait()
	if left := n.left(t, hold(0)); left != 79 {
		t.Error("left is", left)
	}
}

// TestStorm: three nodes under load while Redis pauses, loses everything and their wires
// are cut never hold more than the limit together, and in the end it is as if nothing
// had been.
func TestStorm(t *testing.T) {
	t.Parallel()
	const callers, limit = 4, 1000
	s, b := redistest.Start(t), new(books)
	var nodes []*node
	var wires []*redistest.Wire
	for _, name := range []string{"a", "b", "c"} {
		wire := redistest.NewWire(t, s)
		o := options(name, redisServer(wire.Address), b)
		o.Server.Timeout, o.Grace = 100*time.Millisecond, 0
		nodes, wires = append(nodes, start(t, o)), append(wires, wire)
	}
	var taken, used, passed atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range callers * len(nodes) {
		n := nodes[i%len(nodes)]
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				h := hold(90)
				h.Limit = limit
				holds := []quota.Hold{h}
				refused, _, _, err := n.Reserve(t.Context(), time.Now(), holds)
				if err != nil || refused >= 0 {
					time.Sleep(time.Millisecond) // as a caller would
					continue
				}
				if now := taken.Add(90); now > limit {
					t.Errorf("%d are held and used of %d", now, limit)
				}
				units := int64(0)
				if passed.Add(1)%100 == 0 {
					units = 1
				}
				used.Add(units)
				taken.Add(units - 90)
				n.Settle(time.Now(), holds, []int64{units})
			}
		})
	}
	moved := func(what string) {
		before := passed.Load()
		eventually(t, "calls pass again "+what, func() bool { return passed.Load() > before+3 })
	}
	moved("at first")
	s.Pause()
	eventually(t, "all nodes are stuck", func() bool { return nodes[0].Err() != nil && nodes[1].Err() != nil && nodes[2].Err() != nil })
	s.Resume()
	moved("behind a pause")
	for _, w := range wires {
		w.Cut()
		moved("with a node cut off")
		w.Restore()
	}
	s.Wipe(t)
	moved("behind a loss")
	s.Kill()
	s.Run(t)
	moved("behind a restart")
	close(stop)
	all.Wait()
	eventually(t, "all is known", func() bool {
		for _, n := range nodes {
			if n.Err() != nil || !n.IsPublished() {
				return false
			}
		}
		return true
	})
	h := hold(0)
	h.Limit = limit
	if left := nodes[0].left(t, h); left != limit-used.Load() {
		t.Errorf("left is %d, used were %d of %d", left, used.Load(), limit)
	}
}
