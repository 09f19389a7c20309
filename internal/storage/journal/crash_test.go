package journal_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/journal/killtest"
)

// appendUntilKilled is the child: four goroutines append as the data plane does, a line
// and then the record that closes it, and acknowledge each number once both are there.
func appendUntilKilled(dir string, from int64) {
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
				killtest.Acknowledge(n)
			}
		}()
	}
	select {}
}

// checkLines finds each acknowledged line reserved once and closed once, and every other
// one closed at most once, behind its reservation.
func checkLines(t *testing.T, lines *journal.Lines, acked []int) {
	t.Helper()
	states := map[string][]ledger.State{}
	lines.Read(record.Position{}, func(_ record.Position, l *ledger.Entry) bool {
		states[l.ID] = append(states[l.ID], l.State)
		return true
	})
	expected := []ledger.State{ledger.Reserved, ledger.Settled}
	for id, got := range states {
		if len(got) > 2 || !slices.Equal(got, expected[:len(got)]) {
			t.Fatalf("line %s is %v", id, got)
		}
	}
	for _, n := range acked {
		if id := reserved(n).ID; !slices.Equal(states[id], expected) {
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
		acked = append(acked, killtest.Acknowledged(t, dir, round*1_000_000, 1+rand.IntN(1500))...)
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
	missing := 0
	for _, n := range acked {
		if missing > 5 {
			break
		}
		if id := recordtest.Chat(n).ID; times[id] != 1 {
			t.Errorf("record %d (%s) is there %d times, want once", n, id, times[id])
			missing++
		}
	}
	t.Logf("%d acknowledged, %d found", len(acked), len(got))
}
