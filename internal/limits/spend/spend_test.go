package spend_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/spend"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/sqlstore"
	"sluice/internal/storage/sqlstore/storetest"
)

// Whatever is reserved, closed, stored, failed to be stored and cut off by a crash, in
// any order: the sums in the store are those of the closed lines, each once.
func TestSumsAreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		m := newMemory()
		w := newWorld(rt, dir, m, m.usedOf, "a", "b", "c")
		pick := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, name) }
		for range rapid.IntRange(0, 120).Draw(rt, "steps") {
			w.step(pick)
		}
		w.finish()
	})
}

func TestSumsOnEveryEngine(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(testing.TB) sqlstore.Settings{
		sqlstore.SQLite: storetest.SQLite, sqlstore.Postgres: storetest.Postgres, sqlstore.MySQL: storetest.MySQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sql{storetest.Open(t, settings(t))}
			for range 4 {
				carriers := []string{ident.NewID(), ident.NewID()}
				for _, c := range carriers {
					s.add(t, c)
				}
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				random := rand.New(rand.NewPCG(seed, 0))
				pick := func(_ string, n int) int { return random.IntN(n) }
				w := newWorld(t, t.TempDir(), s, func(subjectID string) int64 { return s.usedOf(t, subjectID) }, carriers...)
				for range 120 {
					w.step(pick)
				}
				w.finish()
			}
		})
	}
}

// A call that a provider counts beyond all measure takes the budgets that it is charged on, and
// no others: sums do not turn round, and what comes behind it is stored as ever.
func TestAbsurdCountsDoNotStopTheRest(t *testing.T) {
	t.Parallel()
	s := sql{storetest.Open(t, storetest.SQLite(t))}
	hit, other := ident.NewID(), ident.NewID()
	s.add(t, hit)
	s.add(t, other)
	w := newWorld(t, t.TempDir(), s, func(subjectID string) int64 { return s.usedOf(t, subjectID) }, hit, other)
	appendCharges := func(charges ...ledger.Charge) {
		t.Helper()
		l := &ledger.Entry{ID: ident.NewID(), State: ledger.Settled, RecordedAt: noon, OrgID: theOrg, Charges: charges}
		if l.Charges == nil {
			counters := []ledger.Counter{{Subject: hit, Entry: "budget", Counts: ledger.Nanos}}
			l.Set, l.Amounts = ledger.NewSet(counters), ledger.Amounts{math.MaxInt64}
		}
		if err := w.journal.AppendLine(l); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // transactions
		for range 2 {
			appendCharges(ledger.Charge{Subject: hit, Entry: "budget", Units: math.MaxInt64})
			appendCharges()
			appendCharges(ledger.Charge{Subject: other, Entry: "budget", Units: 7})
		}
		if err := w.follower.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if used := s.usedOf(t, hit); used != 8*quota.MaxCallUnits {
		t.Errorf("%d used, want eight times the most that a call counts", used)
	}
	if used := s.usedOf(t, other); used != 28 {
		t.Errorf("%d used of another budget, want 28", used)
	}
}

// none picks the first of all.
func none(string, int) int { return 0 }

func TestRunStoresAfterTheInterval(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		w := newWorld(t, dir, m, m.usedOf, "a")
		stop := run(w)
		time.Sleep(time.Hour)
		w.reserve(none)
		w.end(func(name string, n int) int { return n - 1 })
		w.reserve(none)
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if st := w.follower.Stats(); st.Batches != 0 {
			t.Errorf("stored before the interval: %+v", st)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		st := w.follower.Stats()
		if st.Batches != 1 || st.Lines != 1 || st.Open != 1 || st.Failures != 0 {
			t.Errorf("figures %+v, want one line stored and one open", st)
		}
		w.end(none)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if st := w.follower.Stats(); st.Lines != 2 || st.Open != 0 {
			t.Errorf("figures %+v, want that the last line is stored at the end", st)
		}
		w.finish()
	})
}

// A store that is away costs nothing: the same sums are stored when it is back.
func TestRunTriesAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		w := newWorld(t, dir, m, m.usedOf, "a")
		stop := run(w)
		synctest.Wait()
		for _, afterCommit := range []bool{false, true} {
			w.store.before, w.store.after = !afterCommit, afterCommit
			w.reserve(none)
			w.end(func(name string, n int) int { return min(n-1, 1) })
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			if err := w.follower.Err(); !errors.Is(err, errFlaky) {
				t.Errorf("shown: %v, want that the store is away", err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if err := w.follower.Err(); err != nil {
				t.Errorf("shown: %v, want nothing", err)
			}
		}
		if st := w.follower.Stats(); st.Failures != 2 || st.Lines != 2 {
			t.Errorf("figures %+v", st)
		}
		w.checkStored()
		if err := stop(); err != nil {
			t.Error(err)
		}
		w.finish()
	})
}

// run runs the follower until stop is called, which returns what Run returned.
func run(w *world) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.follower.Run(ctx) }()
	return func() error { cancel(); return <-ended }
}

// What nobody reserved counts all the same, and is shown; what is no line is passed over.
func TestStrayAndMalformedLines(t *testing.T) {
	t.Parallel()
	m := newMemory()
	w := newWorld(t, t.TempDir(), m, m.usedOf, "a")
	l := &ledger.Entry{ID: ident.NewID(), State: ledger.Settled, RecordedAt: noon, Charges: []ledger.Charge{{Subject: "a", Entry: "budget", Units: 7}}}
	if err := errors.Join(w.journal.AppendLine(l), w.journal.AppendLine(&ledger.Entry{ID: "none", State: ledger.Settled})); err != nil {
		t.Fatal(err)
	}
	if err := w.follower.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := w.follower.Stats(); st.Unreserved != 1 || st.Malformed != 1 || m.used["a"] != 7 {
		t.Errorf("figures %+v, used %d", st, m.used["a"])
	}
	if err := w.journal.Close(); err != nil {
		t.Fatal(err)
	}
}

// A call that takes long holds up no more of the journal than what was written behind its
// last copy, and is still closed once: by itself, or with its bound behind a crash.
func TestLongCallsAreCarriedAlong(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]bool{"closed": false, "cut off": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			w := newWorld(t, t.TempDir(), m, m.usedOf, "a")
			w.reserve(none)
			for range 400 {
				w.reserve(none)
				w.end(func(name string, n int) int { return n - 1 })
				w.flush(func(string, int) int { return 3 })
				w.consume()
			}
			if st := w.journal.Stats(); st.Lag > 40 || st.Segments > 3 {
				t.Errorf("%d entries in %d files are kept for one call", st.Lag, st.Segments)
			}
			if !crash {
				w.end(none)
			}
			w.finish()
		})
	}
}

// Lines that are closed while they are copied stay closed, wherever the next crash comes:
// the closings fill a batch, behind which the copies stand.
func TestCopiesThatAreTooLate(t *testing.T) {
	t.Parallel()
	last := func(_ string, n int) int { return n - 1 }
	for cut := range 4 {
		m := newMemory()
		w := newWorld(t, t.TempDir(), m, m.usedOf, "a")
		for range 3 {
			w.reserve(none)
		}
		for range 20 {
			w.reserve(none)
			w.open[0], w.open[3] = w.open[3], w.open[0] // the new one ends, the three of before stay in place
			w.end(func(name string, n int) int { return map[string]int{"which": 0}[name] })
			w.open[0], w.open[2] = w.open[2], w.open[0]
		}
		var during func()
		batches := 0
		during = func() { // in the last batch all is read, and nothing copied yet
			if batches++; batches < 7 {
				w.store.during = during
				return
			}
			for range 3 {
				w.end(last)
			}
		}
		w.store.during = during
		ctx, cancel := context.WithCancel(t.Context())
		for round := range cut {
			if round == 1 {
				w.store.during = cancel // behind the closings, before the copies
			}
			if err := w.follower.CatchUp(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			w.consume()
		}
		cancel()
		if cut > 0 && batches != 7 {
			t.Errorf("%d batches, want 7", batches)
		}
		w.finish()
	}
}

// full is a journal that takes no record.
type full struct{}

func (full) AppendWhere(*record.Attempt) (pos, next record.Position, err error) {
	return pos, next, journal.ErrFull
}

func (full) AppendLine(*ledger.Entry) error { return journal.ErrFull }

// A journal that is full keeps nobody from starting: it is emptied while the gateway runs.
func TestRecoverWithAFullJournal(t *testing.T) {
	t.Parallel()
	m := newMemory()
	w := newWorld(t, t.TempDir(), m, m.usedOf, "a")
	w.reserve(none)
	f := spend.New(spend.Options{Node: w.journal.ID(), Lines: w.journal.Lines(), Journal: full{}, Store: m, Limiter: w.limiter})
	if err := f.Recover(t.Context()); err != nil || !errors.Is(f.Err(), journal.ErrFull) || f.Stats().Open != 1 {
		t.Errorf("recovered: %v; shown: %v, %+v", err, f.Err(), f.Stats())
	}
	w.finish()
}

// crowded is a journal in which others write, too.
type crowded struct {
	*journal.Journal
	others func()
}

func (c crowded) AppendWhere(a *record.Attempt) (pos, next record.Position, err error) {
	c.others()
	return c.Journal.AppendWhere(a)
}

// What others write while lines of the last run are closed counts as well, and once.
func TestRecoverWhileOthersWrite(t *testing.T) {
	t.Parallel()
	m := newMemory()
	w := newWorld(t, t.TempDir(), m, m.usedOf, "a")
	for range 10 {
		w.reserve(none)
	}
	calls, corrections := 0, 0
	j := crowded{w.journal, func() {
		if calls++; calls%4 == 0 {
			corrections++
			w.correct(func(name string, n int) int { return n - 1 })
		}
	}}
	f := spend.New(spend.Options{Node: w.journal.ID(), Lines: w.journal.Lines(), Journal: j, Store: m, Limiter: w.limiter, Batch: 3})
	if err := f.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := f.Stats(); corrections == 0 || st.Abandoned != 10 || st.Lines != uint64(10+corrections) || st.Corrected != uint64(corrections) || st.Open != 0 || st.Unreserved != 0 {
		t.Errorf("%d corrections; figures %+v", corrections, st)
	}
	w.finish()
}

// BenchmarkRecover closes a million lines that a process left open.
func BenchmarkRecover(b *testing.B) {
	const lines = 1_000_000
	s := sql{storetest.Open(b, storetest.SQLite(b))}
	carriers := make([]string, 10)
	for i := range carriers {
		carriers[i] = ident.NewID()
		s.add(b, carriers[i])
	}
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		j, err := journal.Open(journal.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		org := ident.NewID()
		for n := range lines {
			id := ident.NewID()
			if err := j.AppendLine(&ledger.Entry{
				ID: id, RequestID: id, State: ledger.Reserved, RecordedAt: noon, OrgID: org, WorkspaceID: carriers[0], KeyID: carriers[n%10], Provider: "openai", Model: "gpt-4o-mini", Amount: 900_000,
				Charges: []ledger.Charge{{Subject: carriers[n%10], Entry: "budget", Units: 900_000}, {Subject: carriers[0], Entry: "budget", Units: 1}},
			}); err != nil {
				b.Fatal(err)
			}
		}
		f := spend.New(spend.Options{Node: j.ID(), Lines: j.Lines(), Journal: j, Store: s, Limiter: &recordingLimiter{}})
		runtime.GC() // the making of the lines is not a part of it
		began := cpuTime(b)
		b.StartTimer()
		if err := f.Recover(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		cpu += cpuTime(b) - began
		if st := f.Stats(); st.Abandoned != lines || st.Lines != lines || st.Open != 0 {
			b.Fatalf("%+v", st)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/million")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/million")
}

// cpuTime is what the process has used of all processors: on a busy machine it says more
// than a clock.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Sums wait a second for company, and longer where each transaction adds to thousands of
// meters.
func TestManyMetersAreStoredLessOften(t *testing.T) {
	t.Parallel()
	f := spend.New(spend.Options{})
	for meters, want := range map[int]time.Duration{0: time.Second, 1999: time.Second, 2000: 2 * time.Second, 10_000: 6 * time.Second, 20_000: 11 * time.Second, 1_000_000: 16 * time.Second} {
		if got := f.PauseAfter(meters); got != want {
			t.Errorf("behind %d meters %v, want %v", meters, got, want)
		}
	}
}
