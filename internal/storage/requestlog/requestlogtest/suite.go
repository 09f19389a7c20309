// Package requestlogtest contains the test suite that every back end of the log store passes,
// and Memory, a back end in memory. Start reading at Run.
package requestlogtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// Run runs the suite. open returns an empty back end and closes it at the end of its
// test.
func Run(t *testing.T, open func(t testing.TB) requestlog.RowStore) {
	for name, test := range map[string]func(*testing.T, requestlog.RowStore){
		"every field comes back":                      testFields,
		"odd ids, texts and types come back":          testOdd,
		"no record is so odd that it blocks the rest": testAny,
		"a write is whole or not at all":              testAtomic,
		"progress is what was written last":           testProgress,
		"each filter selects":                         testFilters,
		"pages follow each other":                     testPages,
		"rows are followed as they arrive":            testArrival,
		"rows with bodies say where these are":        testBodied,
		"a foreign cursor is refused":                 testForeignCursor,
		"nobody finds what belongs to others":         testTenants,
		"deleting leaves what is newer":               testDelete,
		"files of bodies are known by their rows":     testFiles,
		"objects of bodies are known by their rows":   testKeys,
		"a blank row is in figures alone":             testBlank,
		"retention keeps what a plain list keeps":     testRetention,
		"what was charged is told of what was billed": testBilled,
		"a correction changes its row alone":          testCorrections,
		"late results of guardrails join their row":   testLateHooks,
		"figures and filters are those of Memory":     testAnalysis,
		"an analysis that makes no sense is refused":  testForeignAnalysis,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Put writes attempts in one transaction.
func Put(t testing.TB, rows requestlog.RowStore, attempts ...*record.Attempt) {
	t.Helper()
	err := rows.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		for _, a := range attempts {
			if err := to.Add(a, bodies.Ref{}); err != nil {
				return requestlog.Progress{}, err
			}
		}
		return requestlog.Progress{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// list returns a page and fails the test on an error.
func list(t testing.TB, rows requestlog.RowStore, q record.Query) record.Page {
	t.Helper()
	page, err := rows.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func ids(rows []record.Attempt) []string {
	out := make([]string, len(rows))
	for i := range rows {
		out[i] = rows[i].ID
	}
	return out
}

// stored returns an attempt as a back end returns it.
func stored(a record.Attempt) record.Attempt {
	for _, b := range a.Bodies() {
		b.Bytes, b.Head = nil, nil
	}
	for _, d := range []*time.Duration{
		&a.Timings.Parsing, &a.Timings.Preparing, &a.Timings.Cache, &a.Timings.Queue, &a.Timings.Connect, &a.Timings.Decoding,
	} {
		*d = d.Truncate(time.Microsecond)
	}
	a.Spend.Cost, _ = a.Cost()
	a.Closing = nil
	a.Started = a.Started.Truncate(time.Microsecond)
	return a
}

func testFields(t *testing.T, rows requestlog.RowStore) {
	want := recordtest.Full()
	ref := bodies.Ref{Key: "30/o/1.json", File: bodies.Single, Block: 1 << 40, Offset: 17, Request: 8, Response: 9}
	err := rows.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		return requestlog.Progress{}, to.Add(want, ref)
	})
	if err != nil {
		t.Fatal(err)
	}
	got, gotRef, err := rows.Find(t.Context(), want.OrgID, want.WorkspaceID, want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored(*want), got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if gotRef != ref {
		t.Errorf("bodies at %+v, want %+v", gotRef, ref)
	}
	page := list(t, rows, record.Query{OrgID: want.OrgID})
	if diff := cmp.Diff([]record.Attempt{stored(*want)}, page.Rows); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

func testOdd(t *testing.T, rows requestlog.RowStore) {
	tests := map[string]func(*record.Attempt){
		"ids that are no UUID": func(a *record.Attempt) {
			a.ID, a.RequestID, a.TraceID = "log-1", "4bf92f3577b34da6a3ce929d0e0e4736", ""
		},
		"a UUID in capitals": func(a *record.Attempt) { a.TraceID = "0191F3A0-4C1E-7B6F-9D2A-0C6D8A1E5B3F" },
		"the UUID of zeros":  func(a *record.Attempt) { a.TraceID = "00000000-0000-0000-0000-000000000000" },
		"a multipart type":   func(a *record.Attempt) { a.Request.Type = "multipart/form-data; boundary=xYz" },
		"a multipart answer": func(a *record.Attempt) { a.Response.Type = "multipart/mixed; boundary=xYz" },
		"quotes, lines and letters": func(a *record.Attempt) {
			a.Metadata = map[string]string{"a\"b": "c\\\n\u2028", "grün": "日本", "": "\x00"}
		},
		"a text with a NUL":        func(a *record.Attempt) { a.Model, a.Error = "gpt\x00four", "a\x00b" },
		"no usage and no metadata": func(a *record.Attempt) { a.Usage, a.Metadata = llm.Usage{}, nil },
		"a cost": func(a *record.Attempt) {
			a.Spend = record.Spend{State: "settled", Cost: 4_200_000, Saved: 1, MaxCost: 9_000_000, Version: "openai@1", Terms: "input 120 x 0.00025"}
		},
		"no price": func(a *record.Attempt) { a.Spend = record.Spend{State: "estimated", Unpriced: "no_price"} },
		"a price in part": func(a *record.Attempt) {
			a.Spend = record.Spend{State: "settled", Cost: 7, Unpriced: "no_rate:searches"}
		},
		"spend of nobody":  func(a *record.Attempt) { a.Spend.Cost = 7 },
		"seconds of audio": func(a *record.Attempt) { a.Usage.AudioSeconds = 12.3 },
	}
	n := 0
	for name, change := range tests {
		n++
		a := recordtest.Chat(n)
		change(a)
		Put(t, rows, a)
		got, _, err := rows.Find(t.Context(), a.OrgID, "", a.ID)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(stored(*a), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if page := list(t, rows, record.Query{OrgID: a.OrgID, TraceIDs: []string{a.TraceID}, RequestID: a.RequestID}); len(page.Rows) != 1 {
			t.Errorf("%s: %d rows with its trace and request, want it alone", name, len(page.Rows))
		}
	}
	bad := recordtest.Chat(100)
	bad.Path, bad.Metadata, bad.SpanName = "/v1/\xff\xfe", map[string]string{"k": "\xff"}, "\xff"
	Put(t, rows, bad)
	got, _, err := rows.Find(t.Context(), bad.OrgID, "", bad.ID)
	if err != nil || got.Path == "" || got.Metadata["k"] != "\uFFFD" {
		t.Errorf("bytes that are no UTF-8: path %q, metadata %q, %v", got.Path, got.Metadata, err)
	}
}

// testAny writes records of any content. A record that a back end rejected would block all
// records after it.
func testAny(t *testing.T, rows requestlog.RowStore) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		a := recordtest.Any(rt)
		a.ID, a.OrgID = recordtest.ID(recordtest.Epoch, n), "any"
		n++
		Put(t, rows, a)
		got, _, err := rows.Find(t.Context(), "any", "", a.ID)
		if err != nil || got.Status != a.Status || !got.Started.Equal(a.Started.Truncate(time.Microsecond)) {
			rt.Fatalf("found %+v, %v", got, err)
		}
	})
	if page := list(t, rows, record.Query{OrgID: "any", Count: true}); page.Total != int64(n) {
		t.Errorf("%d rows, want %d", page.Total, n)
	}
}

var errStop = errors.New("stopped by the test")

func testAtomic(t *testing.T, rows requestlog.RowStore) {
	Put(t, rows, recordtest.Chat(1))
	partial := func(ctx context.Context) error {
		return rows.Write(ctx, func(to requestlog.Sink) (requestlog.Progress, error) {
			a := recordtest.Chat(2)
			a.Model = "only-in-the-failed-write"
			return requestlog.Progress{Next: record.Position{Seq: 99}}, errors.Join(to.Add(a, bodies.Ref{}), errStop)
		})
	}
	if err := partial(t.Context()); !errors.Is(err, errStop) {
		t.Fatalf("got %v, want the error of fill", err)
	}
	if p, err := rows.Progress(t.Context()); err != nil || p != (requestlog.Progress{}) {
		t.Errorf("progress %+v, %v, want none", p, err)
	}
	again := recordtest.Chat(2)
	again.Model = "only-in-the-failed-write"
	Put(t, rows, again)
	page := list(t, rows, record.Query{OrgID: recordtest.Org, Count: true})
	if page.Total != 2 || len(page.Rows) != 2 || page.Rows[1].Model != again.Model {
		t.Errorf("%d rows, models %q; want the two that were written", page.Total, ids(page.Rows))
	}
}

func testProgress(t *testing.T, rows requestlog.RowStore) {
	for i := range 3 {
		want := requestlog.Progress{Next: record.Position{Seq: 1<<62 + uint64(i)}, BodyStore: bodies.Mark{File: uint32(i), Size: 1 << 40}}
		err := rows.Write(t.Context(), func(requestlog.Sink) (requestlog.Progress, error) { return want, nil })
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rows.Progress(t.Context()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func testTenants(t *testing.T, rows requestlog.RowStore) {
	a := recordtest.Chat(1)
	Put(t, rows, a)
	for _, tt := range []struct {
		org, workspace, id string
		found              bool
	}{
		{recordtest.Org, recordtest.Workspace, a.ID, true},
		{recordtest.Org, "", a.ID, true},
		{recordtest.Org, "another", a.ID, false},
		{"another", recordtest.Workspace, a.ID, false},
		{"", "", a.ID, false},
		{recordtest.Org, "", recordtest.ID(recordtest.Epoch, 404), false},
		{recordtest.Org, "", "", false},
		{recordtest.Org, "", "' OR 1=1 --", false},
	} {
		_, _, err := rows.Find(t.Context(), tt.org, tt.workspace, tt.id)
		if found := err == nil; found != tt.found || !found && !fault.Has(err, fault.NotFound) {
			t.Errorf("find %q %q %q: %v, want found %v", tt.org, tt.workspace, tt.id, err, tt.found)
		}
		if page := list(t, rows, record.Query{OrgID: tt.org, WorkspaceID: tt.workspace}); tt.found && len(page.Rows) == 0 {
			t.Errorf("list %q %q: nothing", tt.org, tt.workspace)
		}
	}
	for _, q := range []record.Query{{}, {OrgID: "another"}, {OrgID: recordtest.Org, WorkspaceID: "another"}} {
		if page := list(t, rows, q); len(page.Rows) != 0 {
			t.Errorf("list %+v: %v, want nothing", q, ids(page.Rows))
		}
	}
}
