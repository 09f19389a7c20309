package requestlogtest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// parts calls a method that works in parts until it returns 0, and returns the sum.
func parts(t rapid.TB, part func(context.Context) (int64, error)) (sum int64) {
	t.Helper()
	for range 1000 {
		n, err := part(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return sum
		}
		sum += n
	}
	t.Fatal("no end")
	return 0
}

func deleted(t rapid.TB, rows requestlog.RowStore, due requestlog.RetentionCutoffs) int64 {
	t.Helper()
	return parts(t, func(ctx context.Context) (int64, error) { return rows.Delete(ctx, due) })
}

func blanked(t rapid.TB, rows requestlog.RowStore, due requestlog.RetentionCutoffs) int64 {
	t.Helper()
	return parts(t, func(ctx context.Context) (int64, error) { return rows.Blank(ctx, due) })
}

func testDelete(t *testing.T, rows requestlog.RowStore) {
	var all []*record.Attempt
	for i := range 10 {
		a := recordtest.Chat(i)
		a.Model = fmt.Sprintf("model-%d", i/5) // the older half has a separate series
		all = append(all, a)
	}
	Put(t, rows, all...)
	if n := deleted(t, rows, requestlog.RetentionCutoffs{Before: all[5].Started}); n != 5 {
		t.Fatalf("%d deleted, want 5", n)
	}
	old := recordtest.Chat(20)
	old.Model = "model-0"
	Put(t, rows, old)
	page := list(t, rows, record.Query{OrgID: recordtest.Org})
	want := []record.Attempt{stored(*all[5]), stored(*all[6]), stored(*all[7]), stored(*all[8]), stored(*all[9]), stored(*old)}
	if diff := cmp.Diff(want, page.Rows, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// putRefs writes chats with their bodies at refs. Chats with an odd number belong to another
// workspace.
func putRefs(t *testing.T, rows requestlog.RowStore, refs ...bodies.Ref) {
	t.Helper()
	err := rows.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		for i, ref := range refs {
			a := recordtest.Chat(i)
			if i%2 == 1 {
				a.WorkspaceID = "other"
			}
			if err := to.Add(a, ref); err != nil {
				return requestlog.Progress{}, err
			}
		}
		return requestlog.Progress{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func refOf(t *testing.T, rows requestlog.RowStore, n int) bodies.Ref {
	t.Helper()
	_, ref, err := rows.Find(t.Context(), recordtest.Org, "", recordtest.Chat(n).ID)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func testFiles(t *testing.T, rows requestlog.RowStore) {
	refAt := func(file uint32, block int64, refAt uint32) bodies.Ref {
		return bodies.Ref{File: file, Block: block, Offset: refAt, Request: 1, Response: 2}
	}
	refs := []bodies.Ref{refAt(1, 0, 0), refAt(1, 0, 10), {}, refAt(2, 0, 0), refAt(2, 99, 0), refAt(2, 99, 10)}
	putRefs(t, rows, refs...)
	first := func(want uint32) {
		t.Helper()
		if got, err := rows.FirstFile(t.Context(), ""); err != nil || got != want {
			t.Errorf("first file %d, %v; want %d", got, err, want)
		}
	}
	first(1)
	due := requestlog.RetentionCutoffs{Before: recordtest.Chat(1).Started, Workspaces: map[string]time.Time{"other": recordtest.Chat(4).Started}} // rows 0, 1 and 3
	files, err := rows.DueFiles(t.Context(), "", due)
	if slices.Sort(files); err != nil || !slices.Equal(files, []uint32{1, 2}) {
		t.Errorf("files %v, %v; want both", files, err)
	}
	for file, want := range [][]bodies.Span{1: nil, 2: {refs[4].Span(), refs[5].Span()}} {
		got, err := rows.RetainedSpans(t.Context(), "", uint32(file), due)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b bodies.Span) bool { return a.Offset < b.Offset })); file > 0 && (diff != "" || err != nil) {
			t.Errorf("kept in file %d, %v (-want +got):\n%s", file, err, diff)
		}
	}
	if n := parts(t, func(ctx context.Context) (int64, error) { return rows.Forget(ctx, "", 2, due) }); n != 1 {
		t.Errorf("%d rows forgot, want the one", n)
	}
	first(1)
	if n := parts(t, func(ctx context.Context) (int64, error) { return rows.Forget(ctx, "", 1, due) }); n != 2 {
		t.Errorf("%d rows forgot, want two", n)
	}
	first(2)
	for i := range refs {
		want := refs[i]
		if i < 4 {
			want = bodies.Ref{}
		}
		if got := refOf(t, rows, i); got != want {
			t.Errorf("row %d refers to %+v, want %+v", i, got, want)
		}
	}
	if files, err := rows.DueFiles(t.Context(), "", due); err != nil || len(files) > 0 {
		t.Errorf("files %v, %v; want none any more", files, err)
	}
}

func testKeys(t *testing.T, rows requestlog.RowStore) {
	key := func(n int) bodies.Ref {
		return bodies.Ref{Key: fmt.Sprintf("30/o/%d.json", n), File: bodies.Single, Request: 5, Response: 6}
	}
	putRefs(t, rows, key(0), key(1), key(2), key(3))
	due := requestlog.RetentionCutoffs{Workspaces: map[string]time.Time{"other": recordtest.Chat(3).Started}} // row 1
	keys, cutoffs, err := rows.DueKeys(t.Context(), due)
	if err != nil || !slices.Equal(keys, []string{key(1).Key}) {
		t.Fatalf("keys %v, %v; want that of row 1", keys, err)
	}
	if n := parts(t, func(ctx context.Context) (int64, error) { return rows.Forget(ctx, "", bodies.Single, cutoffs) }); n != 1 {
		t.Errorf("%d rows forgot, want the one", n)
	}
	if keys, _, err := rows.DueKeys(t.Context(), due); err != nil || len(keys) > 0 {
		t.Errorf("keys %v, %v; want none any more", keys, err)
	}
	for i, want := range []bodies.Ref{key(0), {}, key(2), key(3)} {
		if got := refOf(t, rows, i); got != want {
			t.Errorf("row %d refers to %+v, want %+v", i, got, want)
		}
	}
}

func testBlank(t *testing.T, rows requestlog.RowStore) {
	all := []*record.Attempt{recordtest.Chat(0), recordtest.Chat(1), recordtest.Chat(2)}
	for _, a := range all {
		a.Metadata, a.Error, a.Remote, a.Spend.State, a.Spend.Cost = map[string]string{record.UserKey: "ada"}, "it broke", "192.0.2.7", "settled", 900
	}
	Put(t, rows, all...)
	totals := func() record.Metrics {
		t.Helper()
		page, err := rows.Analyse(t.Context(), record.Analysis{Query: record.Query{OrgID: recordtest.Org, From: all[0].Started, To: all[2].Started.Add(time.Hour)}})
		if err != nil || len(page.Rows) != 1 {
			t.Fatalf("figures %+v, %v", page, err)
		}
		return page.Rows[0].Metrics
	}
	before := totals()
	due := requestlog.RetentionCutoffs{Before: all[2].Started}
	if n := blanked(t, rows, due); n != 2 {
		t.Errorf("%d blanked, want two", n)
	}
	if n := blanked(t, rows, due); n != 0 {
		t.Errorf("%d blanked again", n)
	}
	if diff := cmp.Diff(before, totals()); diff != "" {
		t.Errorf("figures (-before +now):\n%s", diff)
	}
	if page := list(t, rows, record.Query{OrgID: recordtest.Org, Count: true}); page.Total != 1 || !slices.Equal(ids(page.Rows), []string{all[2].ID}) {
		t.Errorf("listed %v of %d, want the last", ids(page.Rows), page.Total)
	}
	if page, err := rows.Billed(t.Context(), record.Query{OrgID: recordtest.Org}); err != nil || len(page.Rows) != 1 {
		t.Errorf("%d billed, %v; want the last", len(page.Rows), err)
	}
	if _, _, err := rows.Find(t.Context(), recordtest.Org, "", all[0].ID); !fault.Has(err, fault.NotFound) {
		t.Errorf("found %v, want not_found", err)
	}
	again := *recordtest.Chat(3)
	Put(t, rows, &again) // in the series of the blank rows
	got, _, err := rows.Find(t.Context(), recordtest.Org, "", again.ID)
	if diff := cmp.Diff(stored(again), got); diff != "" || err != nil {
		t.Errorf("written later, %v (-want +got):\n%s", err, diff)
	}
	if n := deleted(t, rows, due); n != 2 {
		t.Errorf("%d deleted, want the blank ones", n)
	}
}

// testRetention compares a back end with a plain list, for random rows, workspaces and
// cutoffs.
func testRetention(t *testing.T, rows requestlog.RowStore) {
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		org := fmt.Sprintf("org-%d", run)
		day := func(name string) time.Time {
			return recordtest.Epoch.AddDate(0, 0, rapid.IntRange(0, 6).Draw(rt, name))
		}
		name := func(label string) string {
			return fmt.Sprintf("%s-w%d", org, rapid.IntRange(0, 3).Draw(rt, label))
		}
		var all []*record.Attempt
		for i := range rapid.IntRange(0, 40).Draw(rt, "rows") {
			a := recordtest.Chat(run*100 + i)
			a.OrgID, a.WorkspaceID = org, name("workspace")
			a.Started = day("started").Add(time.Duration(rapid.IntRange(-1, 1).Draw(rt, "off")) * time.Microsecond)
			all = append(all, a)
		}
		Put(t, rows, all...)
		due := func(kind string) requestlog.RetentionCutoffs { // only for these workspaces: other runs share the back end
			d := requestlog.RetentionCutoffs{Workspaces: map[string]time.Time{}}
			for range rapid.IntRange(0, 5).Draw(rt, kind) {
				d.Workspaces[name(kind)] = day(kind)
			}
			return d
		}
		metrics, blank := due("metrics"), due("rows")
		deleted(rt, rows, metrics)
		blanked(rt, rows, blank)
		var listed []string
		left := int64(0)
		for _, a := range all {
			if metrics.Has(a) {
				continue
			}
			left++
			if !blank.Has(a) {
				listed = append(listed, a.ID)
			}
		}
		page, err := rows.List(t.Context(), record.Query{OrgID: org, Count: true, Limit: record.MaxLimit})
		got := ids(page.Rows)
		slices.Sort(got)
		slices.Sort(listed)
		if err != nil || !slices.Equal(got, listed) || page.Total != int64(len(listed)) {
			rt.Fatalf("listed %v of %d, %v; want %v", got, page.Total, err, listed)
		}
		analysis, err := rows.Analyse(t.Context(), record.Analysis{Query: record.Query{OrgID: org, From: recordtest.Epoch.AddDate(0, 0, -1), To: recordtest.Epoch.AddDate(0, 0, 8)}})
		if err != nil || len(analysis.Rows) != 1 || analysis.Rows[0].Requests != left {
			rt.Fatalf("figures %+v, %v; want %d rows", analysis, err, left)
		}
	})
}
