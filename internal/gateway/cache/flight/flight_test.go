package flight_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/flight"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	key    = cachekey.Key{1}
	shared = &entry.Entry{Status: 200}
)

// await yields until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatal("not reached:", what)
		}
		pause()
	}
}

// lead enters as the leader.
func lead(t *testing.T, g *flight.Group) *flight.Turn {
	t.Helper()
	turn, e, err := g.Enter(t.Context(), key)
	if turn == nil || e != nil || err != nil {
		t.Fatalf("the first caller does not lead: %v %v", e, err)
	}
	return turn
}

// outcomes are the results of followers.
type outcomes struct {
	all        sync.WaitGroup
	hits, gone atomic.Int64
	turns      atomic.Int64
}

// follow starts n followers. run is called for each that gets a turn.
func (o *outcomes) follow(ctx context.Context, g *flight.Group, n int, run func(*flight.Turn)) {
	for range n {
		o.all.Go(func() {
			turn, e, err := g.Enter(ctx, key)
			switch {
			case err != nil:
				o.gone.Add(1)
			case e != nil:
				o.hits.Add(1)
			default:
				o.turns.Add(1)
				run(turn)
			}
		})
	}
}

func TestAThousandEqualCallsReachTheProviderOnce(t *testing.T) {
	t.Parallel()
	var g flight.Group
	var o outcomes
	turn := lead(t, &g)
	o.follow(t.Context(), &g, 999, func(turn *flight.Turn) { turn.Fail() })
	await(t, "all wait", func() bool { return g.Waiting() == 999 })
	if !turn.Awaited() {
		t.Error("the leader does not see the followers")
	}
	turn.Share(shared)
	turn.Fail() // a deferred one
	o.all.Wait()
	if o.hits.Load() != 999 {
		t.Errorf("%d hits, %d turns", o.hits.Load(), o.turns.Load())
	}
	lead(t, &g).Release() // the next caller leads again
}

func TestTheLeadersClientMayLeave(t *testing.T) {
	t.Parallel()
	var g flight.Group
	var o outcomes
	turn := lead(t, &g)
	client, leave := context.WithCancel(t.Context())
	ctx, cancel := turn.Context(client)
	defer cancel()
	o.follow(t.Context(), &g, 3, func(turn *flight.Turn) { turn.Fail() })
	await(t, "all wait", func() bool { return g.Waiting() == 3 })
	leave()
	if ctx.Err() != nil {
		t.Fatal("the call ended with the client of the leader")
	}
	turn.Share(shared)
	o.all.Wait()
	if o.hits.Load() != 3 {
		t.Errorf("%d hits", o.hits.Load())
	}
}

func TestWorkEndsWhenTheLastCallerLeaves(t *testing.T) {
	t.Parallel()
	for _, leaderFirst := range []bool{true, false} {
		var g flight.Group
		var o outcomes
		turn := lead(t, &g)
		client, leave := context.WithCancel(t.Context())
		ctx, cancel := turn.Context(client)
		followers, leaveToo := context.WithCancel(t.Context())
		o.follow(followers, &g, 2, func(turn *flight.Turn) { turn.Fail() })
		await(t, "both wait", func() bool { return g.Waiting() == 2 })
		order := []func(){leave, leaveToo}
		if !leaderFirst {
			order = []func(){leaveToo, leave}
		}
		for _, f := range order {
			f()
			if !leaderFirst {
				o.all.Wait()
			}
		}
		<-ctx.Done()
		o.all.Wait()
		next := lead(t, &g) // whose work is another one
		turn.Share(shared)
		if o.gone.Load() != 2 {
			t.Errorf("%d left", o.gone.Load())
		}
		next.Release()
		cancel()
	}
}

// TestAClientThatLeavesAfterTheFailureEndsNothing covers a leader whose client leaves when another
// caller leads already.
func TestAClientThatLeavesAfterTheFailureEndsNothing(t *testing.T) {
	t.Parallel()
	var g flight.Group
	var o outcomes
	first := lead(t, &g)
	client, leave := context.WithCancel(t.Context())
	old, cancel := first.Context(client)
	defer cancel()
	leads := make(chan *flight.Turn)
	o.follow(t.Context(), &g, 1, func(turn *flight.Turn) { leads <- turn })
	await(t, "one waits", func() bool { return g.Waiting() == 1 })
	first.Fail()
	second := <-leads
	ctx, cancelSecond := second.Context(t.Context())
	defer cancelSecond()
	leave()
	<-old.Done()
	o.follow(t.Context(), &g, 1, func(turn *flight.Turn) { turn.Fail() })
	await(t, "another waits", func() bool { return g.Waiting() == 1 })
	second.Share(shared)
	o.all.Wait()
	if ctx.Err() != nil || o.hits.Load() != 1 {
		t.Errorf("%v, %d hits", ctx.Err(), o.hits.Load())
	}
}

func TestACallerThatIsAloneEndsWithItsClient(t *testing.T) {
	t.Parallel()
	var g flight.Group
	turn := lead(t, &g)
	client, leave := context.WithCancel(t.Context())
	ctx, cancel := turn.Context(client)
	defer cancel()
	leave()
	<-ctx.Done()
	turn.Fail()
}

func TestAFollowerLeadsAfterAFailure(t *testing.T) {
	t.Parallel()
	var g flight.Group
	var o outcomes
	turn := lead(t, &g)
	o.follow(t.Context(), &g, 100, func(turn *flight.Turn) { turn.Share(shared) })
	await(t, "all wait", func() bool { return g.Waiting() == 100 })
	turn.Fail()
	o.all.Wait()
	if o.hits.Load() != 99 || o.turns.Load() != 1 {
		t.Errorf("%d hits, %d turns", o.hits.Load(), o.turns.Load())
	}
}

func TestAllRunThemselvesAfterThreeFailures(t *testing.T) {
	t.Parallel()
	var g flight.Group
	var o outcomes
	var awaited atomic.Int64
	turn := lead(t, &g)
	o.follow(t.Context(), &g, 100, func(turn *flight.Turn) {
		if turn.Awaited() {
			awaited.Add(1)
		}
		turn.Fail()
	})
	await(t, "all wait", func() bool { return g.Waiting() == 100 })
	turn.Fail()
	o.all.Wait()
	if o.turns.Load() != 100 || awaited.Load() != 2 {
		t.Errorf("%d turns, %d of them led", o.turns.Load(), awaited.Load())
	}
}

func TestAllRunThemselvesIfTheResponseIsNotStorable(t *testing.T) {
	t.Parallel()
	var g flight.Group
	var o outcomes
	turn := lead(t, &g)
	o.follow(t.Context(), &g, 100, func(turn *flight.Turn) {
		ctx, cancel := turn.Context(t.Context())
		defer cancel()
		if turn.Awaited() || ctx.Err() != nil {
			t.Error("others wait for a released caller")
		}
		turn.Share(shared)
	})
	await(t, "all wait", func() bool { return g.Waiting() == 100 })
	turn.Release()
	o.all.Wait()
	if o.turns.Load() != 100 {
		t.Errorf("%d turns", o.turns.Load())
	}
}

func TestAFollowerWaitsNoLongerThanItsClient(t *testing.T) {
	t.Parallel()
	var g flight.Group
	turn := lead(t, &g)
	defer turn.Fail()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := g.Enter(ctx, key); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestOtherKeysDoNotWait(t *testing.T) {
	t.Parallel()
	var g flight.Group
	defer lead(t, &g).Fail()
	turn, _, _ := g.Enter(t.Context(), cachekey.Key{2})
	if turn == nil {
		t.Fatal("a call waits for another key")
	}
	turn.Fail()
}

// TestNoCallerIsForgotten mixes leaders that share, fail, release and leave with followers that
// leave.
func TestNoCallerIsForgotten(t *testing.T) {
	t.Parallel()
	var g flight.Group
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			client, leave := context.WithCancel(t.Context())
			defer leave()
			if i%3 == 0 {
				go leave()
			}
			turn, _, _ := g.Enter(client, cachekey.Key{0: byte(i % 5)})
			if turn == nil {
				return
			}
			ctx, cancel := turn.Context(client)
			defer cancel()
			pause()
			switch {
			case ctx.Err() != nil || i%4 == 0:
				turn.Fail()
			case i%4 == 1:
				turn.Release()
			default:
				turn.Share(shared)
			}
		})
	}
	all.Wait()
	if g.Waiting() != 0 {
		t.Errorf("%d wait for ever", g.Waiting())
	}
	for i := range byte(5) {
		turn, _, _ := g.Enter(t.Context(), cachekey.Key{0: i})
		if turn == nil {
			t.Fatal("a key has no leader")
		}
		turn.Fail()
	}
}
