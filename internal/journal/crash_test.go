package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"sluice/internal/journal"
	"sluice/internal/ledger"
	"sluice/internal/record"
	"sluice/internal/record/recordtest"
)

// crashDir and crashFrom are the environment of a child that appends until killed.
const (
	crashDir  = "JOURNAL_CRASH_DIR"
	crashFrom = "JOURNAL_CRASH_FROM"
)

// appendUntilKilled is the child: four goroutines append as the data plane does, a line
// and then the record that closes it, and say each number on standard output once both
// are there.
func appendUntilKilled(dir string) {
	from, err := strconv.ParseInt(os.Getenv(crashFrom), 10, 64)
	if err != nil {
		panic(err)
	}
	o := small(dir)
	o.MaxBytes = 1 << 30
	j, err := journal.Open(o)
	if err != nil {
		panic(err)
	}
	go func() { panic(j.Run(context.Background())) }()
	var next atomic.Int64
	next.Store(from)
	for range 4 {
		go func() {
			for {
				n := next.Add(1)
				if err := errors.Join(j.AppendLine(reserved(int(n))), j.Append(closing(int(n)))); err != nil {
					panic(err)
				}
				fmt.Fprintln(os.Stdout, n) // one write call: lines do not mix
			}
		}()
	}
	select {}
}

// acknowledged runs a child on dir and kills it after about that many records. It
// returns the numbers whose Append had returned.
func acknowledged(t *testing.T, dir string, from, about int) (acked []int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashFrom+"="+strconv.Itoa(from))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			break // the last line was cut
		}
		if acked = append(acked, n); len(acked) == about {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(acked) < about {
		t.Fatalf("the child ended by itself after %d records: %v", len(acked), err)
	}
	return acked
}

// checkLines finds each acknowledged line reserved once and closed once, and every other
// one closed at most once, behind its reservation.
func checkLines(t *testing.T, lines *journal.Lines, acked []int) {
	t.Helper()
	states := map[string][]ledger.State{}
	lines.Read(record.Position{}, func(_ record.Position, l *ledger.Line) bool {
		states[l.ID] = append(states[l.ID], l.State)
		return true
	})
	whole := []ledger.State{ledger.Reserved, ledger.Settled}
	for id, got := range states {
		if len(got) > 2 || !slices.Equal(got, whole[:len(got)]) {
			t.Fatalf("line %s is %v", id, got)
		}
	}
	for _, n := range acked {
		if id := reserved(n).ID; !slices.Equal(states[id], whole) {
			t.Fatalf("line %d (%s) is %v, want it reserved and settled", n, id, states[id])
		}
	}
	t.Logf("%d lines, %d of them acknowledged", len(states), len(acked))
}

// Killed at any instant, the journal has every record whose Append returned, once.
func TestKillLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var acked []int
	for round := range 6 {
		acked = append(acked, acknowledged(t, dir, round*1_000_000, 1+rand.IntN(1500))...)
	}
	o := small(dir)
	o.MaxBytes = 1 << 30
	j := open(t, o)
	checkLines(t, j.Journal.Lines(), acked)
	got, _ := read(j, record.Position{})
	times := map[string]int{}
	for _, a := range got {
		times[a.ID]++
	}
	lost := 0
	for _, n := range acked {
		if lost > 5 {
			break
		}
		if id := recordtest.Chat(n).ID; times[id] != 1 {
			t.Errorf("record %d (%s) is there %d times, want once", n, id, times[id])
			lost++
		}
	}
	t.Logf("%d acknowledged, %d found", len(acked), len(got))
}
