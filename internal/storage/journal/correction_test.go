package journal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/journal"
)

// corrected is the correction of the n-th chat, and its line.
func corrected(n int) (*record.Correction, *ledger.Entry) {
	l := closed(n)
	l.State, l.Charges[0].Units = ledger.Corrected, -int64(n)-1
	return &record.Correction{ID: l.ID, Operation: "re-rating", After: record.Rated{Cost: int64(n)}, Closing: l.AppendTo(nil)}, l
}

// A correction is one entry: who reads records sees it in its place among them, who reads
// lines sees its line.
func TestCorrectionsAreSeenByBoth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var want []record.Correction
	var lines []*ledger.Entry
	for run := range 2 { // and outlive the journal
		j, err := start(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		consumer := j.Journal.Lines()
		for n := 10 * run; n < 10*run+10; n++ {
			spend(t, j, n, n+1)
			c, l := corrected(n)
			if err := j.AppendCorrection(c); err != nil {
				t.Fatal(err)
			}
			want, lines = append(want, *c), append(lines, reserved(n), closed(n), l)
		}
		var got []record.Correction
		attempts := 0
		j.Read(record.Position{}, func(e record.Entry) bool {
			c := e.Correction
			if e.Attempt != nil {
				attempts++
				return true
			}
			if c.ID != recordtest.Chat(attempts-1).ID {
				t.Errorf("the correction of %s comes behind %d attempts", c.ID, attempts)
			}
			c.Closing = append([]byte(nil), c.Closing...)
			got = append(got, *c)
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" || attempts != len(want) {
			t.Errorf("%d attempts; corrections (-want +got):\n%s", attempts, diff)
		}
		gotLines, _ := readLines(consumer, record.Position{})
		sameLines(t, "lines", gotLines, lines)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What cannot be taken is refused, and the rest of the last file is left to calls under way.
func TestCorrectionsAreRefused(t *testing.T) {
	t.Parallel()
	j := open(t, small(t.TempDir()))
	c, _ := corrected(1)
	c.After.Terms = strings.Repeat("x", 9<<10)
	if err := j.AppendCorrection(c); !errors.Is(err, journal.ErrTooLarge) {
		t.Errorf("one that is too large: %v", err)
	}
	var err error
	n := 0
	for ; err == nil; n++ {
		c, _ := corrected(n)
		err = j.AppendCorrection(c)
	}
	if !errors.Is(err, journal.ErrFull) || j.Append(recordtest.Chat(1)) != nil {
		t.Errorf("after %d: %v, want that the journal is full for corrections and not for attempts", n, err)
	}
	if st := j.Stats(); st.Refused != 2 {
		t.Errorf("%d refused, want 2", st.Refused)
	}
}

// Late results of guardrails are records of their own, of which the ledger sees nothing. They outlive
// the journal.
func TestLateHooks_AreReadInTheirPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	late := record.LateHooks{ID: recordtest.Chat(0).ID, Entry: recordtest.Chat(1).ID, OrgID: recordtest.Org, Started: recordtest.Epoch, Number: 2, Hooks: `{"before_request_hooks":[]}`}
	for range 2 {
		j, err := start(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		consumer := j.Journal.Lines()
		spend(t, j, 0, 1)
		if err := j.AppendHooks(&late); err != nil {
			t.Fatal(err)
		}
		lines, _ := readLines(consumer, record.Position{})
		var got []record.LateHooks
		next := j.Read(record.Position{}, func(e record.Entry) bool {
			if e.Hooks != nil {
				got = append(got, *e.Hooks)
			}
			return true
		})
		if diff := cmp.Diff([]record.LateHooks{late}, got[len(got)-1:]); diff != "" || len(lines) != 2*len(got) || next.Seq == 0 {
			t.Errorf("%d results, %d lines; the last (-want +got):\n%s", len(got), len(lines), diff)
		}
		if st := j.Stats(); st.Damaged > 0 {
			t.Errorf("%d entries count as damaged", st.Damaged)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
