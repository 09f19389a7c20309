package requestlogtest

import (
	"slices"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// testArrival follows rows in the order in which they came: of what was written before a
// page was read nothing follows behind it, however early it began.
func testArrival(t *testing.T, rows requestlog.RowStore) {
	q := record.Query{OrgID: recordtest.Org, ByArrival: true, Limit: 2}
	var got, want []string
	follow := func() {
		t.Helper()
		for {
			page := list(t, rows, q)
			if len(page.Arrived) != len(page.Rows) {
				t.Fatalf("%d places of %d rows", len(page.Arrived), len(page.Rows))
			}
			got = append(got, ids(page.Rows)...)
			if len(page.Rows) > 0 {
				q.After = page.Arrived[len(page.Rows)-1]
			}
			if page.Next == "" {
				return
			}
			if page.Next != q.After {
				t.Fatalf("the next page is behind %q, the last row at %q", page.Next, q.After)
			}
		}
	}
	for round, batch := range [][]int{{30, 31, 32}, {10}, {}, {50, 51}, {1, 2, 3, 4, 5}} {
		var attempts []*record.Attempt
		for _, n := range batch {
			a := recordtest.Chat(n)
			attempts = append(attempts, a)
			want = append(want, a.ID)
		}
		other := recordtest.Chat(100 + round)
		other.OrgID = "another"
		Put(t, rows, append(attempts, other)...)
		follow()
		if !slices.Equal(got, want) {
			t.Fatalf("after batch %d: got %v, want %v", round, got, want)
		}
	}
	page := list(t, rows, record.Query{OrgID: recordtest.Org, ByArrival: true})
	q.After, got, want = page.Arrived[4], nil, ids(page.Rows)[5:] // in the middle of a batch or between two
	if follow(); !slices.Equal(got, want) {
		t.Errorf("behind the fifth row: got %v, want %v", got, want)
	}
}

// testBodied finds the rows whose bodies are kept, and where.
func testBodied(t *testing.T, rows requestlog.RowStore) {
	refs := []bodies.Ref{{}, {File: 1, Block: 7, Offset: 3, Request: 2, Response: 1}, {}, {File: 2, Response: 9}, {File: 2, Block: 1, Request: 1}}
	err := rows.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		for i, ref := range refs {
			if err := to.Add(recordtest.Chat(i), ref); err != nil {
				return requestlog.Progress{}, err
			}
		}
		return requestlog.Progress{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []bodies.Ref
	q := record.Query{OrgID: recordtest.Org, Newest: true, Limit: 2}
	for {
		page, err := rows.RowWithBody(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.RowStore {
			got = append(got, r.Ref)
		}
		if q.After = page.Next; page.Next == "" {
			break
		}
	}
	if want := []bodies.Ref{refs[4], refs[3], refs[1]}; !slices.Equal(got, want) {
		t.Errorf("bodies at %+v, want %+v", got, want)
	}
}
