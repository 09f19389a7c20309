package providerjob_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/providerjob/providerjobtest"
	"sluice/internal/kernel/ident"
)

// clock is set by a test.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// provider says what a job came to.
type provider struct {
	mu       sync.Mutex // guards what follows
	cost     int64      // below 0: the job goes on
	err      error
	checks   int
	recorded int
	gaveUp   string
	forgot   int
}

func (p *provider) CheckJob(context.Context, *providerjob.Job) (*providerjob.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checks++
	if p.err != nil || p.cost < 0 {
		return nil, p.err
	}
	return p.result(p.cost, 7), nil
}

func (p *provider) result(cost, tokens int64) *providerjob.Result {
	return &providerjob.Result{Cost: cost, Tokens: tokens, Record: func() { p.recorded++ }}
}

func (p *provider) AbandonJob(j *providerjob.Job, reason string) *providerjob.Result {
	p.gaveUp = reason
	return p.result(j.MaxCostNano, j.Tokens)
}

func (p *provider) ForgetJob(*providerjob.Job) { p.forgot++ }

type world struct {
	t     *testing.T
	store *providerjobtest.Memory
	clock *clock
	log   bytes.Buffer
	p     *provider
}

func newWorld(t *testing.T) *world {
	return &world{t: t, store: new(providerjobtest.Memory), clock: &clock{now: time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)}, p: &provider{cost: -1}}
}

func (w *world) tracker() *providerjob.Tracker {
	return providerjob.New(w.store, w.store, w.clock, slog.New(slog.NewTextHandler(&w.log, nil)))
}

func (w *world) job() *providerjob.Job {
	return &providerjob.Job{ID: ident.NewID(), Kind: providerjob.Batch, UpstreamID: "b", WorkspaceID: "w", Created: w.clock.Now(), MaxCostNano: 100, Tokens: 50, Charges: []providerjob.Charge{
		{Subject: "key", Measure: providerjob.Cost, Units: 100}, {Subject: "key", Measure: providerjob.Tokens, Units: 50}, {Subject: "key", Measure: providerjob.Calls, Units: 1},
	}}
}

func (w *world) open(t *providerjob.Tracker, j *providerjob.Job) {
	w.t.Helper()
	if err := t.Open(context.Background(), j); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) turn(t *providerjob.Tracker) error {
	w.clock.pass(time.Hour)
	return t.Turn(context.Background(), w.p)
}

func TestTracker_SettlesAJobOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, other := w.tracker(), w.tracker()
	w.open(one, w.job())
	for range 3 {
		if err := errors.Join(w.turn(one), w.turn(other)); err != nil {
			t.Fatal(err)
		}
	}
	if w.p.checks == 0 || w.p.recorded != 0 || one.Len() != 1 {
		t.Errorf("%d checks, %d records of a job that goes on", w.p.checks, w.p.recorded)
	}
	w.p.cost = 30
	for range 3 {
		if err := errors.Join(w.turn(other), w.turn(one)); err != nil {
			t.Fatal(err)
		}
	}
	if w.store.Used("key/cost") != 30 || w.store.Used("key/tokens") != 7 || w.store.Used("key/calls") != 1 || w.p.recorded != 1 || w.p.forgot != 1 || one.Len() != 0 {
		t.Errorf("cost %d, tokens %d, %d records", w.store.Used("key/cost"), w.store.Used("key/tokens"), w.p.recorded)
	}
}

// A process that dies between the budgets and the log leaves a row that is settled: the
// next one writes the record and changes no budget again.
func TestTracker_WritesTheRecordThatADeadProcessOwed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.job()
	w.open(w.tracker(), j)
	if err := w.store.SettleJob(context.Background(), j, w.clock.Now(), []providerjob.Delta{{Charge: providerjob.Charge{Subject: "key", Measure: providerjob.Cost, Units: -70}}}); err != nil {
		t.Fatal(err)
	}
	w.p.cost = 30
	if err := w.turn(w.tracker()); err != nil {
		t.Fatal(err)
	}
	if w.store.Used("key/cost") != 30 || w.store.Settled() != 1 || w.p.recorded != 1 || len(w.store.Jobs()) != 0 {
		t.Errorf("cost %d, settled %d times, %d records", w.store.Used("key/cost"), w.store.Settled(), w.p.recorded)
	}
}

func TestTracker_GivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		turns  int
		reason string
	}{
		"a job that is refused five times": {providerjob.ErrRefused, 5, "rejects"},
		"a job of nine days":               {nil, 220, "nine days"},
		"a provider that is unreachable":   {errors.New("no route"), 220, "nine days"},
		"a credential that is gone":        {providerjob.ErrNoCredential, 220, "nine days"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.p.err = c.err
			tracker := w.tracker()
			w.open(tracker, w.job())
			for n := range c.turns {
				if n < 4 && w.p.gaveUp != "" {
					t.Fatalf("gave up after %d turns", n)
				}
				if err := w.turn(tracker); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(w.p.gaveUp, c.reason) || w.store.Used("key/cost") != 100 || w.p.recorded != 1 || len(w.store.Jobs()) != 0 || !strings.Contains(w.log.String(), "charging its maximum cost") {
				t.Errorf("%q, cost %d, %d records", w.p.gaveUp, w.store.Used("key/cost"), w.p.recorded)
			}
		})
	}
}

// A job that the database does not take is not followed: who created it charges it.
func TestTracker_ReportsAJobThatIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tracker := w.tracker()
	w.store.Fail(errors.New("no database"))
	if err := tracker.Open(context.Background(), w.job()); err == nil || tracker.Len() != 0 {
		t.Errorf("%v, %d jobs", err, tracker.Len())
	}
	if err := w.turn(tracker); err == nil {
		t.Error("no error without a database")
	}
}

func TestTracker_ChecksAJobSoonThatACallerSawEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j := w.job()
	one, other := w.tracker(), w.tracker()
	j.Private = true
	w.open(one, j)
	if err := w.turn(other); err != nil || w.p.checks != 0 {
		t.Fatalf("another node checked a private job %d times, %v", w.p.checks, err)
	}
	if err := w.turn(one); err != nil || w.p.checks != 1 {
		t.Fatalf("%d checks, %v", w.p.checks, err)
	}
	other.RequestCheck(j.Key())
	if err := other.Turn(context.Background(), w.p); err != nil || w.p.checks != 2 {
		t.Errorf("%d checks, %v", w.p.checks, err)
	}
	var none *providerjob.Tracker
	none.RequestCheck(j.Key())
	if !none.Full() || none.Len() != 0 {
		t.Error("a nil tracker follows jobs")
	}
}
