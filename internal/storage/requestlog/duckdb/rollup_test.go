package duckdb_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/llm"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/requestlog/requestlogtest"
)

var questionCount = flag.Int("asked", 200, "questions that TestSumsAreThoseOfRows asks after the first rows, of some 2,500")

// month is where the rows of these tests start, a Monday, and seventeen days long.
var month = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// monthRow is a random row of the month.
func monthRow(random *rand.Rand, n int) *record.Attempt {
	a := recordtest.Chat(n)
	a.Started = month.Add(time.Duration(random.Int64N(int64(17 * 24 * time.Hour)))).Truncate(time.Microsecond)
	a.ID, a.TraceID = recordtest.ID(a.Started, n), recordtest.ID(month, 1<<21|n/2)
	if n%3 == 0 { // which is the only one of its trace, and its neighbour of the next
		a.TraceID = recordtest.ID(month, 1<<22|n)
	}
	text := func(stem string, choices int) string { return fmt.Sprint(stem, random.IntN(choices)) }
	a.WorkspaceID, a.KeyID, a.UserID, a.ConfigID = text("w", 3), text("k", 5), text("u", 2), text("pc-", 3)
	a.Provider, a.ProviderID, a.Model, a.PromptSlug = text("p", 2), text("saved-", 3), text("m", 4), []string{"", "pp-a", "pp-b"}[random.IntN(3)]
	a.CacheStatus = []string{"MISS", "HIT", "SEMANTIC HIT"}[random.IntN(3)]
	a.Status, a.Retries, a.Number = []int32{200, 200, 200, 429, 500}[random.IntN(5)], random.Int32N(3), random.Int32N(2)
	a.Duration = time.Duration(random.Int64N(int64(10 * time.Second)))
	a.Usage = llm.Usage{InputTokens: random.Int64N(100), OutputTokens: random.Int64N(50)}
	a.Spend = record.Spend{State: "settled", Cost: random.Int64N(1000), Saved: random.Int64N(50)}
	a.Metadata = map[string]string{record.UserKey: text("person-", 40), "team": text("team-", 4)}
	if random.IntN(4) == 0 {
		a.Metadata = nil
	}
	return a
}

// monthQuestions are all dimensions with all figures that they can have, over times whose
// ends are those of weeks, days and hours, and none of these.
func monthQuestions() (out []record.Analysis) {
	times := [][2]time.Duration{{0, 15 * 24 * time.Hour}, {26*time.Hour + 7*time.Minute, 16*24*time.Hour + 13*time.Minute + 5}}
	filters := []func(*record.Query){
		func(*record.Query) {}, func(q *record.Query) { q.WorkspaceID = "w1" }, func(q *record.Query) { q.Models = []string{"m1", "m2"} },
		func(q *record.Query) { q.Models, q.KeyIDs, q.WorkspaceID = []string{"m1"}, []string{"k1", "k3"}, "w2" },
		func(q *record.Query) { q.Statuses = []record.StatusRange{{Min: 400, Max: 499}} },
		func(q *record.Query) { q.Metadata = map[string]string{"team": "team-1"} },
		func(q *record.Query) { q.UserID, q.CacheStatuses = "u1", []string{"HIT"} },
		func(q *record.Query) { q.Weighted = record.FloatRange{Min: new(0.5)} },
		func(q *record.Query) { q.Pairs = []record.Pair{{Provider: "p1", Model: "m1"}} },
	}
	requested := record.MetricErrors | record.MetricCost | record.MetricTokens | record.MetricLatency | record.MetricRescued | record.MetricCache | record.MetricSeen
	for _, by := range []record.Dimension{
		record.ByNothing, record.ByProvider, record.ByModel, record.ByStatus, record.ByKey, record.ByConfig, record.ByWorkspace, record.ByProviderID,
		record.ByPrompt, record.ByUser, record.ByMetadata, record.ByRetries, record.ByScore, record.ByTrace, record.ByUnpriced,
	} {
		for _, period := range times {
			for _, narrow := range filters {
				for _, step := range []struct{ step, zone time.Duration }{{0, 0}, {24 * time.Hour, 0}, {7 * 24 * time.Hour, 0}, {24 * time.Hour, 2 * time.Hour}, {24 * time.Hour, 330 * time.Minute}} {
					a := record.Analysis{By: by, Key: "team", Metrics: requested, Step: step.step, Zone: step.zone}
					a.Query = record.Query{OrgID: recordtest.Org, From: month.Add(period[0]), To: month.Add(period[1])}
					narrow(&a.Query)
					for _, also := range []record.MetricSet{0, record.MetricPercentiles, record.MetricUsers, record.MetricFeedback} {
						if also != 0 && step.zone > 2*time.Hour {
							continue
						}
						a.Metrics = requested | also
						out = append(out, a)
					}
				}
			}
		}
	}
	return out
}

// addFeedback gives feedback on the traces of rows.
func addFeedback(t *testing.T, db *duckdb.DB, rows []*record.Attempt) {
	t.Helper()
	var b requestlog.FeedbackBatch
	for i, a := range rows {
		b.Put = append(b.Put, record.TraceFeedback{
			ID: recordtest.ID(month, 1<<20|i), OrgID: a.OrgID, WorkspaceID: a.WorkspaceID, TraceID: a.TraceID, Value: i%9 - 4, Weight: 0.5, Created: a.Started,
		})
	}
	if err := db.PutFeedback(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// ask answers questions with the sums that are there, or, when exactly is set, without.
func ask(t *testing.T, path string, exactly bool, questions []record.Analysis) (out []record.AnalysisPage) {
	t.Helper()
	limit := -1
	if exactly {
		limit = 1 << 30
	}
	db, err := duckdb.Open(t.Context(), duckdb.Options{Path: path, ExactBelow: limit})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range questions {
		page, err := db.Analyse(t.Context(), a)
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		slices.SortFunc(page.Rows, func(x, y record.AnalysisRow) int {
			return slices.Compare([]string{x.Start.String(), x.Value}, []string{y.Start.String(), y.Value})
		})
		out = append(out, page)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Every figure is that of the rows, whatever of it was worked out beforehand, and whatever
// happened to the rows since.
func TestSumsAreThoseOfRows(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "logs.duckdb")
	questions := monthQuestions()
	late := month.Add(60 * 24 * time.Hour)
	var some []*record.Attempt
	changes := []func(*duckdb.DB){
		func(db *duckdb.DB) {
			for n := range 6000 {
				some = append(some, monthRow(random, n))
			}
			requestlogtest.Put(t, db, some...)
			addFeedback(t, db, some[:400])
		},
		func(db *duckdb.DB) { addFeedback(t, db, some[300:600]) }, // whose feedback has ids that others had
		func(db *duckdb.DB) {
			b := requestlog.FeedbackBatch{Next: 7}
			for i := range 60 {
				b.Gone = append(b.Gone, recordtest.ID(month, 1<<20|5*i))
			}
			if err := db.PutFeedback(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		},
		func(db *duckdb.DB) { requestlogtest.Put(t, db, monthRow(random, 10_000), monthRow(random, 10_001)) },
		func(db *duckdb.DB) {
			err := db.Write(t.Context(), func(to requestlog.Sink) (requestlog.Progress, error) {
				c := &record.Correction{ID: some[7].ID, Started: some[7].Started, Operation: some[7].ID, After: record.Rated{Cost: 1e9}}
				return requestlog.Progress{}, to.Correct(c)
			})
			if err != nil {
				t.Fatal(err)
			}
		},
		func(db *duckdb.DB) {
			due := requestlog.RetentionCutoffs{Before: month.Add(3 * 24 * time.Hour), Workspaces: map[string]time.Time{"w2": month.Add(9*24*time.Hour + time.Hour)}}
			for n := int64(1); n > 0; {
				var err error
				if n, err = db.Delete(t.Context(), due); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
	for n, change := range changes {
		db, err := duckdb.Open(t.Context(), duckdb.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		change(db)
		for _, rolled := range []bool{false, true} {
			if rolled {
				if err := db.Roll(t.Context(), late); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			random.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
			chosen := questions[:40]
			if n == 0 && rolled {
				chosen = questions[:*questionCount]
			}
			compareAnswers(t, fmt.Sprintf("change %d, rolled %v", n, rolled), chosen, ask(t, path, true, chosen), ask(t, path, false, chosen))
			if db, err = duckdb.Open(t.Context(), duckdb.Options{Path: path}); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func compareAnswers(t *testing.T, when string, questions []record.Analysis, want, got []record.AnalysisPage) {
	t.Helper()
	nearly := cmp.FilterPath(func(p cmp.Path) bool {
		field, ok := p.Last().(cmp.StructField)
		return ok && slices.Contains([]string{"P50", "P90", "P95", "P99"}, field.Name())
	}, cmp.Comparer(func(x, y time.Duration) bool { return max(x, y)-min(x, y) <= max(x, y)/199 }))
	for i := range questions {
		if diff := cmp.Diff(want[i], got[i], nearly, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s: %+v (-rows +sums):\n%s", when, questions[i], diff)
		}
	}
}
