package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"sluice/internal/control/jobs"
	"sluice/internal/kernel/lease"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// hands is a clock that is set by hand.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }

// work counts who did a job, and when.
type work struct {
	mu   sync.Mutex // guards done
	done []string
}

func (w *work) job(node string, every time.Duration) jobs.Job {
	return jobs.Job{Name: "count", Every: every, Run: func(context.Context, time.Time) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done = append(w.done, node)
		return nil
	}}
}

func (w *work) expect(t *testing.T, want string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := strings.Join(w.done, " "); got != want {
		t.Errorf("done by %q, want %q", got, want)
	}
}

func node(t *testing.T, leases lease.Store, clock *hands, list ...jobs.Job) *jobs.Runner {
	return jobs.New(leases, clock, slog.New(slog.NewTextHandler(t.Output(), nil)), jobs.NewMetrics(), list...)
}

// One of two nodes works, and the other one when that one is gone.
func TestOneNodeWorks(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(testing.TB) sqlstore.Settings{
		"sqlite": storetest.SQLite, "postgres": storetest.Postgres, "mysql": storetest.MySQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := settings(t)
			clock, did := &hands{time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}, &work{}
			one := node(t, storetest.Open(t, set), clock, did.job("one", time.Minute))
			two := node(t, storetest.Open(t, set), clock, did.job("two", time.Minute))
			if !one.RunDue(t.Context()) || two.RunDue(t.Context()) || !one.RunDue(t.Context()) {
				t.Fatal("one node leads, the other stands by")
			}
			did.expect(t, "one") // the second turn is before its time
			clock.now = clock.now.Add(time.Minute)
			two.RunDue(t.Context())
			one.RunDue(t.Context())
			did.expect(t, "one one")

			one.Release(t.Context())
			if !two.RunDue(t.Context()) || one.RunDue(t.Context()) {
				t.Fatal("a lease that was given back is taken at once")
			}
			did.expect(t, "one one two")

			two.Short(time.Millisecond)
			two.RunDue(t.Context()) // and dies: it never renews again
			for !one.RunDue(t.Context()) {
				if t.Context().Err() != nil {
					t.Fatal("nobody took over")
				}
			}
			did.expect(t, "one one two one")
		})
	}
}

// timed is a lease on the clock of a test.
type timed struct {
	clock  *hands
	holder string
	until  time.Time
}

func (l *timed) TakeLease(_ context.Context, _, holder string, ttl time.Duration) (bool, error) {
	if l.holder != holder && l.clock.now.Before(l.until) {
		return false, nil
	}
	l.holder, l.until = holder, l.clock.now.Add(ttl)
	return true, nil
}

func (l *timed) ReleaseLease(context.Context, string, string) error { return nil }

// Whenever the node that works dies, another one does the work within 30 s, and not while
// the first may still work.
func TestTakeover(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		clock, did := &hands{time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}, &work{}
		lease := &timed{clock: clock}
		one, two := node(t, lease, clock, did.job("one", jobs.Beat)), node(t, lease, clock, did.job("two", jobs.Beat))
		one.RunDue(t.Context())
		apart := time.Duration(rapid.Int64Range(1, int64(jobs.Beat)-1).Draw(rt, "apart"))
		clock.now = clock.now.Add(apart) // the nodes look by turns
		for range rapid.IntRange(0, 10).Draw(rt, "beats") {
			if two.RunDue(t.Context()) {
				rt.Fatal("two nodes lead")
			}
			clock.now = clock.now.Add(jobs.Beat - apart)
			one.RunDue(t.Context())
			clock.now = clock.now.Add(apart)
		}
		died := clock.now.Add(-apart) // it never looks again
		for !two.RunDue(t.Context()) {
			clock.now = clock.now.Add(jobs.Beat)
		}
		if after := clock.now.Sub(died); after > 30*time.Second {
			rt.Fatalf("the other node took over after %s", after)
		}
		did.mu.Lock()
		defer did.mu.Unlock()
		if did.done[len(did.done)-1] != "two" {
			rt.Fatalf("nobody did the work: %v", did.done)
		}
	})
}

// alone is a lease that nobody else wants, until it is lost.
type alone struct{ expired bool }

func (a *alone) TakeLease(context.Context, string, string, time.Duration) (bool, error) {
	return !a.expired, nil
}
func (a *alone) ReleaseLease(context.Context, string, string) error { return nil }

// What goes wrong in one job is no matter of the others.
func TestJobsFailAlone(t *testing.T) {
	t.Parallel()
	clock, did, metrics := &hands{time.Unix(1e9, 0)}, &work{}, jobs.NewMetrics()
	r := jobs.New(&alone{}, clock, slog.New(slog.DiscardHandler), metrics,
		jobs.Job{Name: "bad", Run: func(context.Context, time.Time) error { return errors.New("no") }},
		jobs.Job{Name: "worse", Run: func(context.Context, time.Time) error { panic("no") }},
		did.job("one", time.Minute))
	r.RunDue(t.Context())
	did.expect(t, "one")
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(metrics.Collectors()...)
	want := `
# HELP sluice_worker_runs_total Runs of the worker's jobs, by job and outcome.
# TYPE sluice_worker_runs_total counter
sluice_worker_runs_total{job="bad",outcome="failed"} 1
sluice_worker_runs_total{job="count",outcome="ok"} 1
sluice_worker_runs_total{job="worse",outcome="failed"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sluice_worker_runs_total"); err != nil {
		t.Error(err)
	}
}

// flip is a lease that is lost as soon as a job runs.
type flip struct {
	mu    sync.Mutex // guards asked
	calls int
}

func (f *flip) TakeLease(context.Context, string, string, time.Duration) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	return f.calls == 1, nil
}
func (f *flip) ReleaseLease(context.Context, string, string) error { return nil }

// A job is cut off when its node loses the lease, and the jobs behind it do not begin.
func TestWorkEndsWithTheLease(t *testing.T) {
	t.Parallel()
	did := &work{}
	r := node(t, &flip{}, &hands{time.Unix(1e9, 0)}, jobs.Job{Name: "long", Run: func(ctx context.Context, _ time.Time) error {
		<-ctx.Done()
		return ctx.Err()
	}}, did.job("one", time.Minute))
	r.Short(20 * time.Millisecond)
	r.RunDue(t.Context())
	did.expect(t, "")
}

// shaky is a lease that cannot be renewed while a job runs, and is there again at the next
// turn.
type shaky struct{ down atomic.Bool }

func (s *shaky) TakeLease(context.Context, string, string, time.Duration) (bool, error) {
	if s.down.Load() {
		return false, errors.New("the database is away")
	}
	return true, nil
}
func (s *shaky) ReleaseLease(context.Context, string, string) error { return nil }

// A job that was cut off goes on at the next turn, on the same node too: not when it would
// be due again.
func TestCutOffGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, cutOff) // whose clock stands while a job works: a slow one would be cut off again
}

func cutOff(t *testing.T) {
	leases, runs := &shaky{}, 0
	r := node(t, leases, &hands{time.Unix(1e9, 0)}, jobs.Job{Name: "long", Every: time.Hour, Run: func(ctx context.Context, _ time.Time) error {
		if runs++; runs == 1 {
			leases.down.Store(true)
			<-ctx.Done()
			leases.down.Store(false)
		}
		return ctx.Err()
	}})
	r.Short(20 * time.Millisecond)
	for range 3 {
		r.RunDue(t.Context())
	}
	if runs != 2 {
		t.Errorf("it ran %d times, want 2", runs)
	}
}

// Run gives the lease back when it ends.
func TestRunReleases(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, storetest.SQLite(t))
	ctx, stop := context.WithCancel(t.Context())
	clock := &hands{time.Unix(1e9, 0)}
	one := node(t, st, clock, jobs.Job{Name: "stop", Run: func(context.Context, time.Time) error { stop(); return nil }})
	if err := one.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if !node(t, st, clock).RunDue(t.Context()) {
		t.Error("the lease is still held")
	}
}
