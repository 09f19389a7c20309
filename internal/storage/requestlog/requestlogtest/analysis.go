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
	"sluice/internal/kernel/llm"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
)

// testAnalysis compares a back end with Memory. Each round has a new organisation with random
// rows of few different values, and compares several analyses of them.
func testAnalysis(t *testing.T, rows requestlog.RowStore) {
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		w := &world{T: rt, org: fmt.Sprintf("org-%d", round), round: round}
		want := new(Memory)
		w.steps(rows, want)
		for range 3 {
			w.compare(rows, want, w.analysis())
		}
		w.compareLists(rows, want, w.query())
	})
}

// world is an organisation with random traffic.
type world struct {
	*rapid.T
	org   string
	round int
}

// pick draws one of few values.
func pick[V any](w *world, name string, values ...V) V {
	return rapid.SampledFrom(values).Draw(w.T, name)
}

// texts are values that an implementation can easily confuse.
var texts = []string{"", "a", "b", "B", "a'; DROP TABLE attempts --", "\"q\\", "gr\u00fcn", "nul\x00", ":", ",", "a/b~c"}

// traces are the trace IDs of attempts and of feedback.
var traces = []string{"", "t-1", "t-2", "0191f3a0-4c1e-7b6f-9d2a-0c6d8a1e5b3f", "0191F3A0-4C1E-7B6F-9D2A-0C6D8A1E5B3F"}

func (w *world) text(name string) string { return pick(w, name, texts...) }

// attempt draws the n-th attempt of a round.
func (w *world) attempt(n int) *record.Attempt {
	started := recordtest.Epoch.Add(pick(w, "day", 0, 24*time.Hour, 200*time.Hour) + pick(w, "minute", 0, 59*time.Second, 61*time.Minute) + time.Duration(rapid.IntRange(0, 3).Draw(w.T, "micro"))*time.Microsecond)
	a := &record.Attempt{
		ID: recordtest.ID(started, w.round<<16|n), RequestID: pick(w, "request", "", "r-1", "r-2"), TraceID: pick(w, "trace", traces...), SpanID: w.text("span"),
		Number: pick[int32](w, "number", 0, 1), Started: started, Duration: time.Duration(rapid.IntRange(0, 40).Draw(w.T, "duration")) * time.Millisecond,
		OrgID: w.org, WorkspaceID: pick(w, "workspace", "w1", "w2"), KeyID: w.text("key"), UserID: pick(w, "user", "", "u1"), ConfigID: w.text("config"),
		Provider: pick(w, "provider", "openai", "anthropic", ""), ProviderID: w.text("provider id"), Model: w.text("model"), PromptSlug: w.text("prompt"),
		Status: pick[int32](w, "status", 0, 199, 200, 246, 299, 300, 429, 500), Retries: pick[int32](w, "retries", 0, 1, 2, 10),
		CacheStatus: pick(w, "cache", "HIT", "SEMANTIC HIT", "MISS", "DISABLED", ""),
		Usage:       llm.Usage{InputTokens: pick[int64](w, "input", 0, 5, 7), OutputTokens: pick[int64](w, "output", 0, 3), TotalTokens: pick[int64](w, "total", 0, 10, 20)},
		Spend:       pick(w, "spend", record.Spend{}, record.Spend{State: "settled", Cost: 500, Saved: 40}, record.Spend{State: "settled", Cost: 1_000, Saved: 7}, record.Spend{State: "estimated", Cost: 9, Unpriced: "no_price"}),
	}
	for _, key := range [...]string{record.UserKey, "team", "a\"/~b", ""} {
		if rapid.Bool().Draw(w.T, "has "+key) {
			if a.Metadata == nil {
				a.Metadata = map[string]string{}
			}
			a.Metadata[key] = w.text(key)
		}
	}
	return a
}

// Roller is a back end that computes rollups in advance: *duckdb.DB. Percentiles from rollups
// may be off by half a percent.
type Roller interface {
	// Roll computes all rollups that are due at now.
	Roll(ctx context.Context, now time.Time) error
}

// roll sometimes lets a back end compute rollups.
func (w *world) roll(rows requestlog.RowStore) {
	r, able := rows.(Roller)
	if !able || rapid.IntRange(0, 4).Draw(w.T, "rolled") > 0 {
		return
	}
	now := recordtest.Epoch.Add(pick(w, "now", 90*time.Minute, 30*time.Hour, 10_000*time.Hour))
	if err := r.Roll(w.Context(), now); err != nil {
		w.Fatal(err)
	}
}

// steps applies each change to both back ends. Rollups from before a change must not affect
// results after it.
func (w *world) steps(rows, reference requestlog.RowStore) {
	all := w.changes()
	for _, step := range all {
		step(rows)
		step(reference)
		w.roll(rows)
		if rapid.IntRange(0, 3).Draw(w.T, "asked") == 0 {
			w.compare(rows, reference, w.analysis())
		}
	}
}

// changes draws attempts in batches, corrections, feedback and the retention of old rows, in
// an order in which they can occur.
func (w *world) changes() (out []func(requestlog.RowStore)) {
	var attempts []*record.Attempt
	for n := range rapid.IntRange(0, 40).Draw(w.T, "attempts") {
		attempts = append(attempts, w.attempt(n))
	}
	var corrections []*record.Correction
	for _, a := range attempts {
		if a.Spend.State != "" && rapid.IntRange(0, 3).Draw(w.T, "corrected") == 0 {
			corrections = append(corrections, &record.Correction{
				ID: a.ID, Started: a.Started, RatedAt: recordtest.Epoch, Operation: a.ID,
				After: record.Rated{Cost: pick[int64](w, "cost after", 0, 123_456), Unpriced: pick(w, "unpriced after", "", "no_price")},
			})
		}
	}
	late := rapid.IntRange(0, len(attempts)).Draw(w.T, "late")
	putFeedback := func(n int) func(requestlog.RowStore) {
		b := w.feedback(n)
		return func(rows requestlog.RowStore) {
			if err := rows.PutFeedback(w.Context(), b); err != nil {
				w.Fatal(err)
			}
		}
	}
	out = append(out,
		func(rows requestlog.RowStore) { w.write(rows, attempts[:late], nil) }, putFeedback(0), func(rows requestlog.RowStore) { w.write(rows, attempts[late:], nil) },
		func(rows requestlog.RowStore) { w.write(rows, nil, corrections) }, putFeedback(1))
	due := requestlog.RetentionCutoffs{Before: recordtest.Epoch.Add(pick(w, "before", 30*time.Second, 24*time.Hour))}
	if rapid.Bool().Draw(w.T, "of a workspace") {
		due = requestlog.RetentionCutoffs{Workspaces: map[string]time.Time{"w1": due.Before}}
	}
	switch rapid.IntRange(0, 5).Draw(w.T, "ended") {
	case 0:
		out = append(out, func(rows requestlog.RowStore) { deleted(w, rows, due) })
	case 1:
		out = append(out, func(rows requestlog.RowStore) { blanked(w, rows, due) })
	}
	return out
}

func (w *world) write(rows requestlog.RowStore, attempts []*record.Attempt, corrections []*record.Correction) {
	err := rows.Write(w.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
		for _, a := range attempts {
			if err := to.Add(a, bodies.Ref{}); err != nil {
				return requestlog.Progress{}, err
			}
		}
		for _, c := range corrections {
			if err := to.Correct(c); err != nil {
				return requestlog.Progress{}, err
			}
		}
		return requestlog.Progress{}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// feedback draws the n-th feedback batch of a round. The second batch changes and deletes some
// feedback of the first.
func (w *world) feedback(n int) (b requestlog.FeedbackBatch) {
	id := func() string {
		return recordtest.ID(recordtest.Epoch, w.round<<16|rapid.IntRange(0, 12).Draw(w.T, "feedback"))
	}
	for i := range rapid.IntRange(0, 8).Draw(w.T, "feedbacks") {
		f := record.TraceFeedback{
			ID: recordtest.ID(recordtest.Epoch, w.round<<16|n<<3|i), OrgID: w.org, WorkspaceID: pick(w, "workspace", "w1", "w2"), TraceID: pick(w, "trace", traces[1:]...),
			Value: pick(w, "value", -10, -3, 0, 3, 4), Weight: pick(w, "weight", 0, 0.25, 0.5, 1), Created: recordtest.Epoch, // sums of these weights are exact
		}
		b.Put = append(b.Put, f)
	}
	if n > 0 {
		b.Gone = append(b.Gone, recordtest.ID(recordtest.Epoch, 404))
		for range rapid.IntRange(0, 3).Draw(w.T, "gone") {
			gone := id()
			if gone < recordtest.ID(recordtest.Epoch, w.round<<16|1<<3) { // a batch does not delete what it puts
				b.Gone = append(b.Gone, gone)
			}
		}
	}
	return b
}

// analysis draws any valid analysis.
func (w *world) analysis() record.Analysis {
	a := record.Analysis{
		Query: w.query(), Step: pick(w, "step", 0, 0, time.Minute, 7*time.Minute, time.Hour, 24*time.Hour, 7*24*time.Hour),
		Zone: pick(w, "zone", 0, 2*time.Hour, -9*time.Hour-30*time.Minute), By: pick(w, "by", dimensions...), Key: pick(w, "key", record.UserKey, "team", "a\"/~b", "none"),
		Metrics: record.MetricSet(rapid.Uint16Range(0, uint16(record.MetricFeedback)<<1-1).Draw(w.T, "want")), Ascending: rapid.Bool().Draw(w.T, "ascending"),
		Offset: pick(w, "offset", 0, 0, 1, 5), Limit: pick(w, "limit", 0, 1, 3, 1000),
	}
	a.Query.From, a.Query.To = recordtest.Epoch.Add(pick(w, "from", -time.Hour, time.Microsecond)), recordtest.Epoch.Add(pick(w, "to", 300*time.Hour, 24*time.Hour))
	a.Order = pick(w, "order", columns...)
	need, _ := a.Order.Needs()
	a.Metrics |= need
	return a
}

var (
	dimensions = []record.Dimension{
		record.ByNothing, record.ByProvider, record.ByModel, record.ByStatus, record.ByKey, record.ByConfig, record.ByWorkspace, record.ByProviderID,
		record.ByPrompt, record.ByUser, record.ByMetadata, record.ByTrace, record.ByRetries, record.ByScore, record.ByUnpriced,
	}
	columns = []record.Column{
		record.ColumnRequests, record.ColumnCost, record.ColumnTokens, record.ColumnAvgTokens, record.ColumnAvgInput, record.ColumnAvgOutput,
		record.ColumnAvgLatency, record.ColumnP95, record.ColumnP99, record.ColumnSuccessRate, record.ColumnErrors, record.ColumnHitRate, record.ColumnLast, record.ColumnFirst,
	}
)

// query draws a query with few filters, so that some rows remain.
func (w *world) query() record.Query {
	q := record.Query{OrgID: w.org}
	for range rapid.IntRange(0, 2).Draw(w.T, "filters") {
		pick(w, "filter", filters...)(w, &q)
	}
	return q
}

// some draws one or two of a filter's values.
func some[V any](w *world, name string, values ...V) []V {
	return rapid.SliceOfN(rapid.SampledFrom(values), 1, 2).Draw(w.T, name)
}

// filters set one field of a query each.
var filters = []func(*world, *record.Query){
	func(w *world, q *record.Query) { q.WorkspaceID = pick(w, "workspace", "w1", "w3") },
	func(w *world, q *record.Query) { q.RequestID = "r-1" },
	func(w *world, q *record.Query) { q.UserID = "u1" },
	func(w *world, q *record.Query) { q.Models = some(w, "models", texts...) },
	func(w *world, q *record.Query) { q.Providers = some(w, "providers", "openai", "anthropic") },
	func(w *world, q *record.Query) { q.KeyIDs = some(w, "keys", texts...) },
	func(w *world, q *record.Query) { q.Configs = some(w, "configs", texts...) },
	func(w *world, q *record.Query) { q.ProviderIDs = some(w, "provider ids", texts...) },
	func(w *world, q *record.Query) {
		q.Statuses = some(w, "statuses", record.StatusRange{Min: 200, Max: 299}, record.StatusRange{Min: 429, Max: 429})
	},
	func(w *world, q *record.Query) { q.Total = w.between(0, 8, 20) },
	func(w *world, q *record.Query) { q.Input = w.between(1, 5, 7) },
	func(w *world, q *record.Query) { q.Output = w.between(0, 3) },
	func(w *world, q *record.Query) { q.Cost = w.between(0, 500, 1_000) },
	func(w *world, q *record.Query) { q.TraceIDs = some(w, "trace ids", traces...) },
	func(w *world, q *record.Query) { q.SpanIDs = some(w, "span ids", texts...) },
	func(w *world, q *record.Query) { q.PromptSlugs = some(w, "prompts", texts...) },
	func(w *world, q *record.Query) {
		q.CacheStatuses = some(w, "cache statuses", "HIT", "SEMANTIC HIT", "none")
	},
	func(w *world, q *record.Query) {
		q.Pairs = some(w, "pairs", record.Pair{Provider: "openai", Model: "a"}, record.Pair{Provider: "", Model: "b"}, record.Pair{Provider: "openai", Model: texts[4]})
	},
	func(w *world, q *record.Query) { q.Metadata = map[string]string{record.UserKey: w.text("value")} },
	func(w *world, q *record.Query) {
		q.Metadata = map[string]string{"a\"/~b": w.text("value"), "team": w.text("value")}
	},
	func(w *world, q *record.Query) {
		q.Weighted = record.FloatRange{Min: new(pick(w, "least", -3, 0, 0.5))}
	},
	func(w *world, q *record.Query) { q.Weighted = record.FloatRange{Max: new(pick(w, "most", -1, 0, 1.5))} },
}

// between draws a range that may be open at one end.
func (w *world) between(ends ...int64) (r record.Range) {
	if rapid.Bool().Draw(w.T, "min") {
		r.Min = new(pick(w, "least", ends...))
	}
	if r.Min == nil || rapid.Bool().Draw(w.T, "max") {
		r.Max = new(pick(w, "most", ends...))
	}
	return r
}

func (w *world) compare(rows, reference requestlog.RowStore, a record.Analysis) {
	opts := cmp.Options{cmpopts.EquateApprox(1e-9, 1e-12), cmpopts.EquateEmpty()}
	if _, rolls := rows.(Roller); rolls {
		opts = append(opts, nearly)
		if a.Step == 0 && (a.Order == record.ColumnP95 || a.Order == record.ColumnP99) { // rows with nearly equal values may swap positions
			a.Offset, a.Limit = 0, 0
			opts = append(opts, cmpopts.SortSlices(func(x, y record.AnalysisRow) bool { return x.Value < y.Value }))
		}
	}
	want, err1 := reference.Analyse(w.Context(), a)
	got, err2 := rows.Analyse(w.Context(), a)
	if err1 != nil || err2 != nil {
		w.Fatalf("%+v: %v, want %v", a, err2, err1)
	}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		w.Fatalf("%+v (-want +got):\n%s", a, diff)
	}
}

// nearly treats percentiles as equal if they differ by at most 1 %.
var nearly = cmp.FilterPath(func(p cmp.Path) bool {
	field, ok := p.Last().(cmp.StructField)
	return ok && slices.Contains([]string{"P50", "P90", "P95", "P99"}, field.Name())
}, cmp.Comparer(func(x, y time.Duration) bool { return max(x, y)-min(x, y) <= max(x, y)/100 }))

// compareLists compares the rows that a query selects.
func (w *world) compareLists(rows, reference requestlog.RowStore, q record.Query) {
	q.Count, q.Limit, q.Newest = true, pick(w, "limit", 2, 100), rapid.Bool().Draw(w.T, "newest")
	want, err1 := reference.List(w.Context(), q)
	got, err2 := rows.List(w.Context(), q)
	if err1 != nil || err2 != nil {
		w.Fatalf("%+v: %v, want %v", q, err2, err1)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		w.Fatalf("%+v (-want +got):\n%s", q, diff)
	}
}

func testForeignAnalysis(t *testing.T, rows requestlog.RowStore) {
	good := record.Query{OrgID: recordtest.Org, From: recordtest.Epoch, To: recordtest.Epoch.Add(time.Hour)}
	for name, a := range map[string]record.Analysis{
		"no time":              {Query: record.Query{OrgID: recordtest.Org}},
		"an order of nothing":  {Query: good, Order: record.ColumnCost},
		"an unknown order":     {Query: good, Order: "cost; DROP TABLE attempts"},
		"an unknown property":  {Query: good, By: "model; DROP TABLE attempts"},
		"metadata without key": {Query: good, By: record.ByMetadata},
		"half a minute":        {Query: good, Step: 30 * time.Second},
	} {
		if _, err := rows.Analyse(t.Context(), a); !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: got %v, want invalid_parameter", name, err)
		}
	}
}
