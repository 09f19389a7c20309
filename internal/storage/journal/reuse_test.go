package journal_test

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/limits/ledger"
)

// alike is a record of the same size for every n.
func alike(n int) *record.Attempt {
	a := recordtest.Chat(1000)
	a.ID = recordtest.ID(recordtest.Epoch, n)
	return a
}

// running opens a small journal in a bubble and has it run there.
func running(t *testing.T, dir string) opened {
	o := small(dir)
	o.MaxBytes = 2 << 20 // room for a burst
	j := open(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- j.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return j
}

// consume appends the records from..to-1, reads all there are and trims them.
func consume(t *testing.T, j opened, pos record.Position, from, to int) (end record.Position) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := j.Append(alike(n)); err != nil {
			t.Fatal(err)
		}
	}
	got, end := read(j, pos)
	for i, a := range got {
		if a.ID != alike(from+i).ID {
			t.Fatalf("record %d is %s, want %s", from+i, a.ID, alike(from+i).ID)
		}
	}
	if len(got) != to-from {
		t.Fatalf("%d records, want %d", len(got), to-from)
	}
	if err := j.Trim(end); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return end
}

func TestConsumedFilesAreWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := running(t, dir)
		pos := record.Position{}
		for round := range 40 { // of which each needs about a third of a file
			pos = consume(t, j, pos, 5*round, 5*round+5)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
		if err != nil || len(files) > 3 || len(files) != j.Stats().Segments {
			t.Errorf("%d files, %v, %+v; want three at most", len(files), err, j.Stats())
		}
		if last := filepath.Base(files[len(files)-1]); last > "0000000000000003.seg" {
			t.Errorf("the last file is %s: files were made where some could be written again", last)
		}
		for n := 200; n < 208; n++ {
			if err := j.Append(alike(n)); err != nil {
				t.Fatal(err)
			}
		}
		left, _ := read(killed(t, dir), pos)
		for i, a := range left {
			if a.ID != alike(200+i).ID {
				t.Errorf("after a crash record %d is %s", i, a.ID)
			}
		}
		if len(left) != 8 {
			t.Errorf("%d records after a crash, want those 8 that were not consumed", len(left))
		}
	})
}

// What a burst needed is kept for the next one, and removed when none comes.
func TestFilesOfABurstAreWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := running(t, dir)
		files := func() (n int, last string) {
			t.Helper()
			names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
			if err != nil || len(names) != j.Stats().Segments {
				t.Fatalf("%d files, %v, %+v", len(names), err, j.Stats())
			}
			return len(names), filepath.Base(names[len(names)-1])
		}
		pos := consume(t, j, record.Position{}, 0, 600)
		after, last := files()
		if after != 33 {
			t.Errorf("%d files after a burst, want the active one and 32", after)
		}
		for burst := range 5 {
			pos = consume(t, j, pos, 600+390*burst, 990+390*burst) // of which each needs about 31 files
			time.Sleep(30 * time.Second)
		}
		if n, now := files(); n != after || now != last {
			t.Errorf("%d files, the last %s, after such bursts; want %d and %s", n, now, after, last)
		}
		time.Sleep(2 * time.Minute)
		if n, _ := files(); n != 3 {
			t.Errorf("%d files after minutes without a call, want the active one and two", n)
		}
		consume(t, j, pos, 2550, 2560)
	})
}

// A file that is written again waits for both consumers, and shows neither what it held.
func TestFilesOfTwoConsumersAreWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j := running(t, dir)
		lines := j.Journal.Lines()
		var ofRecords, ofLines record.Position
		for round := range 60 { // lines are trimmed some rounds behind records
			spend(t, j, 5*round, 5*round+5)
			_, ofRecords = read(j, ofRecords)
			if err := j.Trim(ofRecords); err != nil {
				t.Fatal(err)
			}
			if round%4 != 3 {
				continue
			}
			var got []*ledger.Entry
			got, ofLines = readLines(lines, ofLines)
			if len(got) != 40 || got[0].ID != reserved(5*round-15).ID {
				t.Fatalf("round %d: %d lines", round, len(got))
			}
			if err := lines.Trim(ofLines); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if st := j.Stats(); st.Segments > 4 || st.Damaged != 0 {
			t.Errorf("%+v: files were made where some could be written again", st)
		}
		spend(t, j, 300, 303)
		left, _ := readLines(killed(t, dir).Journal.Lines(), ofLines)
		sameLines(t, "after a crash", left, []*ledger.Entry{reserved(300), closed(300), reserved(301), closed(301), reserved(302), closed(302)})
	})
}

// killed opens what a process that is killed now would leave.
func killed(t *testing.T, dir string) opened {
	t.Helper()
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return open(t, small(left))
}

// Of a file that is written again a power failure may leave new pages before old
// ones, torn anywhere. No old record may come back as a new one.
func TestTornReuseShowsNoOldRecord(t *testing.T) {
	old, fresh, first := twoLives(t)
	for cut := 64; cut < len(fresh); cut += 8 {
		if cut > 2*2400 && cut%1024 != 0 { // every word of the first frames is enough
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "0000000000000000.seg"), append(fresh[:cut:cut], old[cut:]...), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := start(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := read(j, record.Position{})
		for i, a := range got {
			if a.ID != alike(first+i).ID {
				t.Fatalf("torn at %d: record %d is %s, want %s", cut, i, a.ID, alike(first+i).ID)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// twoLives returns a file full of records, and the same file full of later ones, of
// which the first is the first-th.
func twoLives(t *testing.T) (old, fresh []byte, first int) {
	t.Helper()
	for range 20 {
		if old, fresh, first = lives(t); fresh != nil {
			return old, fresh, first
		}
	}
	t.Fatal("no first file was written again")
	return nil, nil, 0
}

// lives is one look at the first file of a journal. Which of two spare files is written
// again depends on who was done first; should others always be, fresh is nil.
func lives(t *testing.T) (old, fresh []byte, first int) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "0000000000000000.seg")
	synctest.Test(t, func(t *testing.T) {
		j := running(t, dir)
		pos := record.Position{}
		var since uint64
		for n := range 200 { // some 60 files
			before, err := os.ReadFile(path)
			if err != nil {
				return // it was deleted, as one too many
			}
			pos = consume(t, j, pos, n, n+1)
			now, err := os.ReadFile(path)
			if err != nil {
				return
			}
			value := binary.NativeEndian.Uint64(now[8:])
			if value == since {
				continue
			}
			switch since = value; {
			case value != 1<<64-1:
				first = n
			case old == nil:
				old = before
			default:
				fresh = before
				return
			}
		}
	})
	return old, fresh, first
}
