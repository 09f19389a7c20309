package requestlogtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/limits/ledger"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// billed is the n-th chat with a cost and the line that ended with it.
func billed(n int, state ledger.State) *record.Attempt {
	a := recordtest.Chat(n)
	a.Spend = record.Spend{State: state.String(), Cost: 900, MaxCost: 4000, Version: "v1", Terms: `[{"nano":900}]`, Basis: `{"region":"eu"}`}
	l := ledger.Entry{
		ID: a.ID, State: state, RecordedAt: a.Started.Add(a.Duration + 7), Amount: 900,
		Charges: []ledger.Charge{{Subject: a.KeyID, Entry: "monthly", Units: 900, Cost: true}, {Subject: a.WorkspaceID, ValueKey: "model:\xff\x00", Units: 168}, {Subject: a.WorkspaceID, ValueKey: "team:\xff\x00", Units: 900, Cost: true}},
	}
	a.Closing = l.AppendTo(nil)
	return a
}

// charged is what the row of billed says of its budgets.
func charged(a *record.Attempt) record.Charged {
	var l ledger.Entry
	return requestlog.ChargedOf(a.Closing, &l)
}

func testBilled(t *testing.T, rows requestlog.RowStore) {
	unlined := billed(5, ledger.Settled) // of an older program
	unlined.Closing = nil
	all := []*record.Attempt{billed(0, ledger.Settled), billed(1, ledger.Released), recordtest.Chat(2), billed(3, ledger.Estimated), billed(4, ledger.Unknown), unlined}
	Put(t, rows, all...)
	var want []record.Billed
	for _, i := range []int{0, 3, 4, 5} {
		want = append(want, record.Billed{Attempt: stored(*all[i]), Charged: charged(all[i])})
	}
	if want[0].Charged.ClosedAt.IsZero() || want[0].Charged.Nano != 900 || !want[3].Charged.ClosedAt.IsZero() {
		t.Fatalf("charged %+v and %+v", want[0].Charged, want[3].Charged)
	}
	var got []record.Billed
	q := record.Query{OrgID: recordtest.Org, Limit: 3}
	for {
		page, err := rows.Billed(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Rows...)
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("billed (-want +got):\n%s", diff)
	}
	if page, err := rows.Billed(t.Context(), record.Query{OrgID: "another"}); err != nil || len(page.Rows) > 0 {
		t.Errorf("of another organisation: %d, %v", len(page.Rows), err)
	}
}

// correct writes corrections in one transaction.
func correct(t *testing.T, rows requestlog.RowStore, list ...*record.Correction) {
	t.Helper()
	err := rows.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		for _, c := range list {
			if err := to.Correct(c); err != nil {
				return requestlog.Progress{}, err
			}
		}
		return requestlog.Progress{}, to.Add(recordtest.Chat(100), bodies.Ref{})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testCorrections(t *testing.T, rows requestlog.RowStore) {
	all := []*record.Attempt{billed(0, ledger.Settled), billed(1, ledger.Settled), billed(2, ledger.Settled)}
	all[1].Spend.Unpriced = "unknown_model"
	Put(t, rows, all...)
	corrected := recordtest.Epoch.Add(time.Hour)
	change := func(a *record.Attempt, before, after int64) *record.Correction {
		return &record.Correction{
			ID: a.ID, Started: a.Started, Operation: recordtest.ID(corrected, int(after)), RatedAt: corrected, By: recordtest.Key,
			Before: record.Rated{Cost: before, Unpriced: a.Spend.Unpriced, Version: "v1", Terms: a.Spend.Terms}, After: record.Rated{Cost: after, Version: "v2", Terms: `[{"nano":"new"}]`},
		}
	}
	gone := change(recordtest.Chat(50), 1, 2)
	first, second, third := change(all[0], 900, 400), change(all[1], 900, 500), change(all[0], 400, 600)
	correct(t, rows, first, second, gone)
	correct(t, rows, third)
	for i, cost := range []int64{600, 500, 900} {
		want := record.Billed{Attempt: stored(*all[i]), Charged: charged(all[i])}
		if i < 2 {
			want.Spend.Cost, want.Spend.Unpriced, want.Spend.Version, want.Spend.Terms = cost, "", "v2", third.After.Terms
			want.Charged.Nano = cost
		}
		page, err := rows.Billed(t.Context(), record.Query{OrgID: recordtest.Org, RequestID: all[i].RequestID})
		if err != nil || len(page.Rows) != 1 {
			t.Fatalf("attempt %d: %d rows, %v", i, len(page.Rows), err)
		}
		if diff := cmp.Diff(want, page.Rows[0]); diff != "" {
			t.Errorf("attempt %d (-want +got):\n%s", i, diff)
		}
	}
	trail := func(id string, want ...record.Correction) {
		t.Helper()
		got, err := rows.Corrections(t.Context(), id)
		for i := range want {
			want[i].Started = want[i].Started.Truncate(time.Microsecond)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("corrections of %s, %v (-want +got):\n%s", id, err, diff)
		}
	}
	trail(all[0].ID, *first, *third)
	trail(all[1].ID, *second)
	trail(all[2].ID)
	if _, err := rows.Delete(t.Context(), requestlog.RetentionCutoffs{Before: all[1].Started}); err != nil {
		t.Fatal(err)
	}
	trail(all[0].ID)
	trail(all[1].ID, *second)
}
