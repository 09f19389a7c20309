package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/journal/killtest"
)

func TestMain(m *testing.M) {
	killtest.Child(appendUntilKilled)
	goleak.VerifyTestMain(m)
}

// small keeps files short, so that tests pass over many.
func small(dir string) journal.Options {
	return journal.Options{Dir: dir, SegmentBytes: 32 << 10, MaxRecordBytes: 8 << 10, MaxBytes: 1 << 20}
}

// start opens a journal that the test closes itself.
func start(o journal.Options) (opened, error) {
	j, err := journal.Open(o)
	if err != nil {
		return opened{}, err
	}
	return opened{j, j.Records()}, nil
}

// opened is a journal and its only consumer, of log records.
type opened struct {
	*journal.Journal
	*journal.Records
}

func open(t testing.TB, o journal.Options) opened {
	t.Helper()
	j, err := start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func put(t testing.TB, j opened, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := j.Append(recordtest.Chat(n)); err != nil {
			t.Fatalf("append %d: %v", n, err)
		}
	}
}

// read returns copies of the records from a position on.
func read(j opened, from record.Position) (out []*record.Attempt, end record.Position) {
	end = j.Read(from, func(e record.Entry) bool {
		a := e.Attempt
		c := *a
		c.Request.Bytes = append([]byte(nil), a.Request.Bytes...)
		c.Response.Bytes = append([]byte(nil), a.Response.Bytes...)
		c.Closing = append([]byte(nil), a.Closing...)
		out = append(out, &c)
		return true
	})
	return out, end
}

func chats(from, to int) (out []*record.Attempt) {
	for n := from; n < to; n++ {
		out = append(out, recordtest.Chat(n))
	}
	return out
}

func same(t *testing.T, what string, got, want []*record.Attempt) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRecordsComeBackInOrder(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	put(t, j, 0, 100)
	got, end := read(j, record.Position{})
	same(t, "from the beginning", got, chats(0, 100))
	if got, again := read(j, end); len(got) != 0 || again != end {
		t.Errorf("behind the end: %d records, position %+v, want %+v", len(got), again, end)
	}
	middle := j.Read(record.Position{}, stopAfter(40))
	got, _ = read(j, middle)
	same(t, "from the middle", got, chats(40, 100))
	got, _ = read(j, record.Position{Seq: middle.Seq})
	same(t, "from the middle without the hint", got, chats(40, 100))
	got, _ = read(j, record.Position{Seq: middle.Seq, Offset: 4321})
	same(t, "from the middle with a wrong hint", got, chats(40, 100))
	put(t, j, 100, 101)
	got, _ = read(j, end)
	same(t, "what came later", got, chats(100, 101))
	if st := j.Stats(); st.Appended != 101 || st.Lag != 101 || st.Segments < 5 || st.Refused != 0 {
		t.Errorf("stats %+v", st)
	}
}

func stopAfter(n int) func(record.Entry) bool {
	return func(record.Entry) bool { n--; return n > 0 }
}

func TestRecordsOutliveTheJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var end record.Position
	for run := range 3 {
		j, err := start(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := read(j, record.Position{})
		same(t, fmt.Sprintf("at start %d", run), got, chats(0, run*30))
		put(t, j, run*30, run*30+30)
		_, end = read(j, end)
		if err := errors.Join(j.Close(), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
	j := open(t, small(dir))
	put(t, j, 90, 91)
	got, _ := read(j, end)
	same(t, "behind the position of an earlier run", got, chats(90, 91))
}

// Numbers grow although the clock went back, and although the files are gone, so
// that a stored position never hides new records.
func TestNumbersGrowOverRestarts(t *testing.T) {
	t.Parallel()
	o := small(t.TempDir())
	clock := &fakeClock{now: recordtest.Epoch}
	o.Clock = clock
	last := record.Position{}
	for _, step := range []struct {
		forward time.Duration
		wipe    bool
	}{{0, false}, {-time.Hour, false}, {2 * time.Hour, true}} {
		clock.now = clock.now.Add(step.forward)
		if step.wipe {
			if err := os.RemoveAll(o.Dir); err != nil {
				t.Fatal(err)
			}
		}
		j, err := start(o)
		if err != nil {
			t.Fatal(err)
		}
		put(t, j, 0, 5)
		got, end := read(j, last)
		if len(got) != 5 || end.Seq <= last.Seq {
			t.Errorf("after %+v: %d records behind %d, end at %d; want 5", step, len(got), last.Seq, end.Seq)
		}
		last = end
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time { return c.now }

func TestTrimDeletesWhatIsConsumed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, small(dir))
	put(t, j, 0, 100)
	pos := j.Read(record.Position{}, stopAfter(60))
	if err := j.Trim(pos); err != nil {
		t.Fatal(err)
	}
	got, _ := read(j, pos)
	same(t, "left", got, chats(60, 100))
	if st := j.Stats(); st.Lag != 40 {
		t.Errorf("lag %d, want 40", st.Lag)
	}
	if err := errors.Join(j.Trim(record.Position{Seq: 1 << 62}), j.Trim(record.Position{})); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.seg")); len(files) != 1 || j.Stats().Lag != 0 {
		t.Errorf("%d files and a lag of %d, want the active file alone", len(files), j.Stats().Lag)
	}
	put(t, j, 100, 101)
	got, _ = read(j, pos)
	if len(got) == 0 || got[len(got)-1].ID != recordtest.Chat(100).ID {
		t.Errorf("%d records from a position that was trimmed, want those that are left", len(got))
	}
}

func TestFullJournalRefusesAndRecovers(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	n := 0
	var err error
	for ; err == nil; n++ {
		err = j.Append(recordtest.Chat(n))
	}
	if !errors.Is(err, journal.ErrFull) || !errors.Is(j.Err(), journal.ErrFull) {
		t.Fatalf("after %d records: %v, health %v; want that it is full", n, err, j.Err())
	}
	if st := j.Stats(); st.Refused != 1 || st.Appended != uint64(n-1) || st.Disk == 0 || st.Disk > st.Limit {
		t.Errorf("stats %+v, want one refused of %d, and no more on the disk than may be", st, n)
	}
	pos := j.Read(record.Position{}, stopAfter(n/2))
	if err := j.Trim(pos); err != nil {
		t.Fatal(err)
	}
	put(t, j, n, n+1)
	if j.Err() != nil {
		t.Errorf("health %v after room was made", j.Err())
	}
}

// Where files of the journal were lost and the clock was set back, numbers go on behind those
// that a consumer has: it would pass over lower ones.
func TestNumbersGoOnBehindThoseOfConsumers(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{now: recordtest.Epoch}
	o := small(t.TempDir())
	o.Clock = clock
	j, err := start(o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, j, 0, 5)
	_, end := read(j, record.Position{})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	o.Dir = t.TempDir()
	clock.now = clock.now.Add(-time.Hour)
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	j = open(t, o)
	put(t, j, 5, 6) // before the consumer said how far it is
	if err := j.Trim(end); err != nil {
		t.Fatal(err)
	}
	put(t, j, 6, 10)
	got, end := read(j, end)
	same(t, "read", got, chats(6, 10))
	if !strings.Contains(log.String(), "consumer offset is beyond the journal") {
		t.Errorf("the log says %s", &log)
	}
	if err := j.Trim(end); err != nil {
		t.Fatal(err)
	}
	put(t, j, 10, 11)
	got, _ = read(j, end)
	same(t, "read on", got, chats(10, 11))
}

// A disk that takes no file is asked again once a second, not by every record.
func TestFailingDiskIsNotAskedByEveryRecord(t *testing.T) {
	t.Parallel()
	o := small(t.TempDir())
	clock := &fakeClock{now: recordtest.Epoch}
	o.Clock = clock
	j := open(t, o)
	blocker := filepath.Join(o.Dir, fmt.Sprintf("%016d.seg", 0))
	if err := os.Mkdir(blocker, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(recordtest.Chat(0)); !errors.Is(err, journal.ErrFull) || !errors.Is(err, os.ErrExist) {
		t.Fatalf("got %v, want full because of the file", err)
	}
	if err := j.Append(recordtest.Chat(1)); !errors.Is(err, journal.ErrFull) {
		t.Fatalf("within the second: got %v, want full", err)
	}
	clock.now = clock.now.Add(time.Second)
	put(t, j, 2, 3)
	if st := j.Stats(); st.Refused != 2 || st.Appended != 1 {
		t.Errorf("stats %+v, want two refused and one taken", st)
	}
}

func TestLongRecordsLoseTheEndOfTheirBodies(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	pos := record.Position{}
	rapid.Check(t, func(t *rapid.T) {
		a := recordtest.Chat(1)
		a.Request.Bytes = make([]byte, rapid.IntRange(0, 20<<10).Draw(t, "request"))
		a.Response.Bytes = make([]byte, rapid.IntRange(0, 20<<10).Draw(t, "response"))
		a.Reshaped.Bytes = make([]byte, rapid.IntRange(0, 20<<10).Draw(t, "reshaped"))
		complete := a.EncodedSize() <= 8<<10
		if err := j.Append(a); err != nil {
			t.Fatal(err)
		}
		if a.Request.Truncated || a.Response.Truncated {
			t.Fatal("the caller's record was changed")
		}
		var got []*record.Attempt
		got, pos = read(j, pos)
		if len(got) != 1 {
			t.Fatalf("%d records, want one", len(got))
		}
		checkCut(t, got[0], a, complete)
		if err := j.Trim(pos); err != nil {
			t.Fatal(err)
		}
	})
}

// checkCut compares a stored record with the one that was given.
func checkCut(t *rapid.T, got, original *record.Attempt, complete bool) {
	t.Helper()
	if size := got.EncodedSize(); size > 8<<10 || !complete && size < 8<<10-16 {
		t.Fatalf("stored in %d bytes, want as much as fits", size)
	}
	for _, b := range []struct{ got, original record.Body }{{got.Request, original.Request}, {got.Response, original.Response}} {
		if b.got.Truncated != (len(b.got.Bytes) < len(b.original.Bytes)) || complete && b.got.Truncated || b.got.Size != b.original.Size {
			t.Fatalf("%d of %d bytes, truncated %v, size %d of %d", len(b.got.Bytes), len(b.original.Bytes), b.got.Truncated, b.got.Size, b.original.Size)
		}
	}
}

// Numbers grow though the clock was set back by a day, all is consumed, and runs without a call
// come between: else a consumer would take what comes for what it has.
func TestNumbersGrowWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{now: recordtest.Epoch}
	o := small(t.TempDir())
	o.Clock = clock
	var consumed record.Position
	run := func(records int) {
		t.Helper()
		j, err := start(o)
		if err != nil {
			t.Fatal(err)
		}
		put(t, j, 0, records)
		got, end := read(j, consumed)
		same(t, "read", got, chats(0, records))
		consumed = end
		if err := errors.Join(j.Trim(consumed), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run(3)
	for records := range 3 {
		clock.now = clock.now.Add(-24 * time.Hour)
		run(records)
		run(0)
	}
}

// A file has room for the longest record, whatever is said of files.
func TestLongRecordsAreKeptWhole(t *testing.T) {
	t.Parallel()
	const maxBytes = 20 << 20
	j := open(t, journal.Options{Dir: t.TempDir(), MaxRecordBytes: maxBytes})
	a := recordtest.Chat(1)
	a.Request.Bytes = make([]byte, maxBytes-8<<10)
	if err := j.Append(a); err != nil {
		t.Fatal(err)
	}
	got, _ := read(j, record.Position{})
	if len(got) != 1 || len(got[0].Request.Bytes) != len(a.Request.Bytes) || j.Stats().Cut != 0 {
		t.Errorf("%d records, %+v; want it whole", len(got), j.Stats())
	}
}

func TestRecordThatCannotBeCutIsRefused(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	a := recordtest.Chat(1)
	a.Error = string(make([]byte, 9<<10))
	if err := j.Append(a); !errors.Is(err, journal.ErrTooLarge) || j.Stats().Refused != 1 {
		t.Errorf("got %v, %+v; want too large and counted", err, j.Stats())
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, o := range map[string]journal.Options{
		"no directory":             {},
		"segment below a record":   {Dir: dir, SegmentBytes: 4096, MaxRecordBytes: 4096},
		"limit below a segment":    {Dir: dir, MaxBytes: 1 << 20},
		"directory that is a file": {Dir: "/dev/null"},
	} {
		if j, err := journal.Open(o); err == nil {
			t.Errorf("%s: opened", name)
			_ = j.Close()
		}
	}
	open(t, small(dir))
	if j, err := journal.Open(small(dir)); err == nil {
		t.Error("opened a second time")
		_ = j.Close()
	}
}

func TestAfterCloseNothingIsTaken(t *testing.T) {
	t.Parallel()
	j, err := start(small(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	put(t, j, 0, 1)
	_, end := read(j, record.Position{})
	waited := make(chan error)
	go func() { waited <- j.Wait(context.Background(), end) }()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, journal.ErrClosed) {
		t.Errorf("wait: %v, want that it is closed", err)
	}
	if err := j.Append(recordtest.Chat(1)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append: %v, want that it is closed", err)
	}
}

func TestWaitWakesForARecordOrTheContext(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() { waited <- j.Wait(ctx, record.Position{}) }()
	put(t, j, 0, 1)
	if err := <-waited; err != nil {
		t.Errorf("with a record there: %v", err)
	}
	_, end := read(j, record.Position{})
	go func() { waited <- j.Wait(ctx, end) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

// Run writes once for all that came within the interval, and sleeps otherwise.
func TestRunWritesAtTheInterval(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := open(t, journal.Options{Dir: dir, Sync: time.Second, SegmentBytes: 8 << 20})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- j.Run(ctx) }()
		put(t, j, 0, 10)
		for _, step := range []struct {
			pass time.Duration
			want uint64
		}{{999 * time.Millisecond, 0}, {time.Millisecond, 1}, {time.Hour, 1}} {
			time.Sleep(step.pass)
			synctest.Wait()
			if got := j.Stats().Syncs; got != step.want {
				t.Errorf("%d writes after a further %v, want %d", got, step.pass, step.want)
			}
		}
		put(t, j, 10, 11)
		cancel()
		if err := <-ended; err != nil || j.Stats().Syncs != 2 {
			t.Errorf("at the end: %v, %d writes; want 2", err, j.Stats().Syncs)
		}
		got, _ := read(j, record.Position{})
		same(t, "read after writes", got, chats(0, 11))
	})
}

func TestAppendAllocatesNothing(t *testing.T) {
	j := open(t, journal.Options{Dir: t.TempDir()})
	a := recordtest.Chat(1)
	if n := testing.AllocsPerRun(1000, func() { _ = j.Append(a) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
