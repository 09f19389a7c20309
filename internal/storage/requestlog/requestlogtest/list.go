package requestlogtest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/storage/requestlog"
)

func testFilters(t *testing.T, rows requestlog.RowStore) {
	other := recordtest.Chat(1)
	other.WorkspaceID, other.KeyID, other.Provider, other.Model, other.Status = "w2", "k2", "anthropic", "claude-sonnet-4", 429
	other.UserID, other.ConfigID, other.ProviderID = "u2", "pc-other", "claude"
	other.Usage = llm.Usage{InputTokens: 7, OutputTokens: 3} // whose sum nobody reported
	number := func(n int64) *int64 { return &n }
	failed := recordtest.Chat(2)
	failed.Status, failed.TraceID = 503, other.TraceID
	a, b, c := recordtest.Chat(0).ID, other.ID, failed.ID
	Put(t, rows, recordtest.Chat(0), other, failed)
	startOf := func(n int) time.Time { return recordtest.Chat(n).Started }
	tests := []struct {
		name string
		q    record.Query
		want []string
	}{
		{"everything, oldest first", record.Query{}, []string{a, b, c}},
		{"newest first", record.Query{Newest: true}, []string{c, b, a}},
		{"workspace", record.Query{WorkspaceID: "w2"}, []string{b}},
		{"trace", record.Query{TraceIDs: []string{"none", other.TraceID}}, []string{b, c}},
		{"request", record.Query{RequestID: failed.RequestID}, []string{c}},
		{"from is inclusive", record.Query{From: startOf(1)}, []string{b, c}},
		{"to is exclusive", record.Query{To: startOf(1)}, []string{a}},
		{"time in another zone", record.Query{From: startOf(1).In(time.FixedZone("", 9*3600)), To: startOf(2)}, []string{b}},
		{"one status", record.Query{Statuses: []record.StatusRange{{Min: 429, Max: 429}}}, []string{b}},
		{"ranges of status", record.Query{Statuses: []record.StatusRange{{Min: 200, Max: 299}, {Min: 500, Max: 599}}}, []string{a, c}},
		{"models", record.Query{Models: []string{"claude-sonnet-4", "none"}}, []string{b}},
		{"providers", record.Query{Providers: []string{"openai", "anthropic"}}, []string{a, b, c}},
		{"keys", record.Query{KeyIDs: []string{"k2"}}, []string{b}},
		{"user", record.Query{UserID: "u2"}, []string{b}},
		{"user and key of somebody else", record.Query{UserID: "u2", KeyIDs: []string{recordtest.Key}}, nil},
		{"configs", record.Query{Configs: []string{"pc-other", "pc-none"}}, []string{b}},
		{"saved providers", record.Query{ProviderIDs: []string{"openai-main"}}, []string{a, c}},
		{"least and most tokens", record.Query{Total: record.Range{Min: number(10), Max: number(10)}}, []string{b}},
		{"most input", record.Query{Input: record.Range{Max: number(119)}}, []string{b}},
		{"least output", record.Query{Output: record.Range{Min: number(4)}}, []string{a, c}},
		{"all of several", record.Query{Providers: []string{"openai"}, Statuses: []record.StatusRange{{Min: 500, Max: 599}}}, []string{c}},
		{"nothing matches both", record.Query{Models: []string{"claude-sonnet-4"}, Providers: []string{"openai"}}, nil},
		{"a value with quotes", record.Query{Models: []string{"' OR ''='"}}, nil},
		{"second page by number", record.Query{Offset: 2, Limit: 2}, []string{c}},
	}
	for _, tt := range tests {
		tt.q.OrgID, tt.q.Count = recordtest.Org, true
		page := list(t, rows, tt.q)
		if got := ids(page.Rows); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if want := int64(len(tt.want) + tt.q.Offset); page.Total != want {
			t.Errorf("%s: total %d, want %d", tt.name, page.Total, want)
		}
	}
}

// testPages walks lists of every direction and page size. Rows share their times
// in part, and new ones arrive on the way, which a walk to older rows must not see.
func testPages(t *testing.T, rows requestlog.RowStore) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []record.Attempt
	for i := range 60 {
		a := recordtest.Chat(0)
		a.Started = recordtest.Epoch.Add(time.Duration(random.IntN(15)) * time.Microsecond)
		a.ID = recordtest.ID(a.Started, random.IntN(1<<30)<<8|i)
		if i%7 == 0 {
			a.ID = "odd-" + a.ID // sorts by something else than its text
		}
		Put(t, rows, a)
		all = append(all, stored(*a))
	}
	for _, limit := range []int{1, 7, 59, 60, 61} {
		for _, newest := range []bool{false, true} {
			got := walk(t, rows, record.Query{OrgID: recordtest.Org, Limit: limit, Newest: newest, To: recordtest.Epoch.Add(time.Second)})
			checkWalk(t, all, got, newest)
			late := recordtest.Chat(1000 + limit)
			Put(t, rows, late)
		}
	}
}

// walk reads all pages.
func walk(t *testing.T, rows requestlog.RowStore, q record.Query) []record.Attempt {
	t.Helper()
	var out []record.Attempt
	for {
		page := list(t, rows, q)
		out = append(out, page.Rows...)
		if page.Next == "" || len(page.Rows) == 0 {
			return out
		}
		if len(page.Rows) != q.Limit {
			t.Fatalf("a page of %d before the last, want %d", len(page.Rows), q.Limit)
		}
		q.After = page.Next
	}
}

// checkWalk compares with every attempt once, in order of time.
func checkWalk(t *testing.T, all, got []record.Attempt, newest bool) {
	t.Helper()
	if !slices.IsSortedFunc(got, func(a, b record.Attempt) int {
		if newest {
			return b.Started.Compare(a.Started)
		}
		return a.Started.Compare(b.Started)
	}) {
		t.Error("pages are not in order")
	}
	byID := func(a, b record.Attempt) int { return cmp.Compare(a.ID, b.ID) }
	want := slices.SortedFunc(slices.Values(all), byID)
	if have := slices.SortedFunc(slices.Values(got), byID); !slices.Equal(ids(have), ids(want)) {
		t.Errorf("pages hold %d rows, want each of %d once", len(got), len(all))
	}
}

func testForeignCursor(t *testing.T, rows requestlog.RowStore) {
	_, err := rows.List(t.Context(), record.Query{OrgID: recordtest.Org, After: "no-cursor!"})
	if !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("got %v, want invalid_parameter", err)
	}
}
