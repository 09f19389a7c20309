package duckdb_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/duckdb"
)

var (
	manyRows     = flag.Int("rows", 0, "attempts of one organisation, over 30 days, of which questions are asked; 0 leaves TestManyRows out")
	rounds       = flag.Int("rounds", 5, "times that each question is asked")
	databaseFile = flag.String("file", "", "the database of TestManyRows, which is made unless it is there, and kept; a temporary one when empty")
	threads      = flag.Int("threads", 0, "threads of the database; 0 for as many as the gateway gives it")
	only         = flag.String("only", "", "part of the names of the questions that are asked")
	making       = flag.String("make", "", "the database that TestMakeRows makes, with as many rows")
)

// TestMakeRows makes the database of TestManyRows, which runs it in a process of its own:
// the rows are made with whatever memory that takes, and what is measured is what the log
// takes.
func TestMakeRows(t *testing.T) {
	if *making == "" {
		t.Skip("a part of TestManyRows")
	}
	if err := generate(t.Context(), *making, *manyRows); err != nil {
		t.Fatal(err)
	}
}

func makeRows(ctx context.Context, path string, rows int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	line := []string{"-test.run=^TestMakeRows$", "-test.timeout=2h", "-make", path, "-rows", strconv.Itoa(rows)}
	if out, err := exec.CommandContext(ctx, self, line...).CombinedOutput(); err != nil {
		return fmt.Errorf("make rows: %w: %s", err, out)
	}
	return nil
}

// TestManyRows measures the request log with many rows: pages, filters and analytics over
// 30 days. It prints a table for docs/logs.md.
func TestManyRows(t *testing.T) {
	if *manyRows == 0 {
		t.Skip("a measurement: make bench-logs")
	}
	path := *databaseFile
	if path == "" {
		path = filepath.Join(t.TempDir(), "logs.duckdb")
	}
	if err := makeRows(t.Context(), path, *manyRows); err != nil {
		t.Fatal(err)
	}
	db, err := duckdb.Open(t.Context(), duckdb.Options{Path: path, Threads: *threads})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	forgetPeak()
	began := cpu(t)
	if err := db.Roll(t.Context(), first.Add(2*span)); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("sums were worked out in %s of processor time; peak memory of the process %d MB.\n\n", (cpu(t) - began).Round(time.Millisecond), peak()>>20)
	forgetPeak()
	slowest := 0.0
	fmt.Printf("| question over %d rows | p50 ms | p95 ms | processor ms |\n|---|---:|---:|---:|\n", *manyRows)
	for _, q := range questions() {
		if !strings.Contains(q.name, *only) {
			continue
		}
		before := cpu(t)
		took, err := measure(t.Context(), db, q, *rounds)
		if err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		used := (cpu(t) - before) / time.Duration(*rounds+1)
		slowest = max(slowest, percentile(took, 95))
		fmt.Printf("| %s | %.0f | %.0f | %d |\n", q.name, percentile(took, 50), percentile(took, 95), used.Milliseconds())
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if *ingest > 0 {
		measureIngest(t, db)
	}
	maxMS := 150.0
	if *manyRows > 10_000_000 {
		maxMS = 1000
	}
	fmt.Print("\n| aim | measured | |\n|---|---:|---|\n")
	aim("ms of any question at the 95th percentile", slowest, maxMS)
	aim("bytes of a row on disk", float64(info.Size())/float64(*manyRows), 150)
	aim("MB of memory of the process", float64(peak())/(1<<20), 512)
}

// aim prints whether a measured value meets its aim.
func aim(metric string, got, maximum float64) {
	verdict := "met"
	if got > maximum {
		verdict = "missed"
	}
	fmt.Printf("| at most %.0f %s | %.0f | %s |\n", maximum, metric, got, verdict)
}

// question is something that is asked of the log.
type question struct {
	name string
	ask  func(context.Context, *duckdb.DB) error
}

// wholly selects everything that a caller can ask for at once: a workspace, which has nearly all rows.
func wholly() record.Query {
	return record.Query{OrgID: tenant, WorkspaceID: biggest, From: first, To: first.Add(span)}
}

func questions() []question {
	out := []question{
		list("newest 50 with count", func(*record.Query) {}),
		list("newest 50 of a model and its errors, with count", func(q *record.Query) {
			q.Models, q.Statuses = []string{"model-3"}, []record.StatusRange{{Min: 400, Max: 599}}
		}),
		list("newest 50 of a pair of metadata, with count", func(q *record.Query) { q.Metadata = map[string]string{"team": "team-7"} }),
		list("newest 50 of a trace, with count", func(q *record.Query) { q.TraceIDs = []string{"no-such-trace"} }),
		list("newest 50 of a range of cost, with count", func(q *record.Query) { q.Cost = record.Range{Min: new(int64(300_000))} }),
		list("newest 50 of judged traces, with count", func(q *record.Query) { q.Weighted = record.FloatRange{Min: new(1.0)} }),
	}
	for _, g := range []struct {
		name string
		want record.MetricSet
		by   record.Dimension
	}{
		{"requests", 0, record.ByNothing}, {"cost", record.MetricCost, record.ByNothing}, {"tokens", record.MetricTokens, record.ByNothing},
		{"latency", record.MetricLatency | record.MetricPercentiles, record.ByNothing}, {"users", record.MetricUsers, record.ByNothing},
		{"errors", record.MetricErrors, record.ByNothing}, {"errors by status", record.MetricErrors, record.ByStatus},
		{"rescued", record.MetricRescued, record.ByNothing}, {"cache", record.MetricCache, record.ByNothing},
		{"feedback", record.MetricFeedback, record.ByNothing}, {"scores", record.MetricFeedback, record.ByScore},
	} {
		out = append(out,
			analysis("summary: "+g.name, record.Analysis{Query: wholly(), Metrics: g.want, By: g.by}),
			analysis("graph by day: "+g.name, record.Analysis{Query: wholly(), Metrics: g.want, By: g.by, Step: 24 * time.Hour}))
	}
	all := record.MetricErrors | record.MetricCost | record.MetricTokens | record.MetricLatency | record.MetricPercentiles | record.MetricCache | record.MetricSeen
	for _, by := range []record.Dimension{
		record.ByProvider, record.ByModel, record.ByStatus, record.ByKey, record.ByConfig, record.ByWorkspace, record.ByProviderID, record.ByPrompt,
	} {
		query := wholly()
		if by == record.ByWorkspace {
			query.WorkspaceID = ""
		}
		out = append(out,
			analysis(fmt.Sprintf("groups by %s: requests", by), record.Analysis{Query: query, By: by, Limit: 100}),
			analysis(fmt.Sprintf("groups by %s: all columns", by), record.Analysis{Query: query, By: by, Metrics: all, Limit: 100}))
	}
	edges := wholly() // that are those of no hour
	edges.From, edges.To = first.Add(10*time.Hour+23*time.Minute), first.Add(span-3*time.Hour-7*time.Minute)
	both := wholly()
	both.Models, both.Statuses = []string{"model-3"}, []record.StatusRange{{Min: 400, Max: 599}}
	out = append(out,
		analysis("groups by user: requests, cost", record.Analysis{Query: wholly(), By: record.ByUser, Metrics: record.MetricCost, Limit: 100}),
		analysis("groups by user, 30 days to some minute: requests, cost", record.Analysis{Query: edges, By: record.ByUser, Metrics: record.MetricCost, Limit: 100}),
		analysis("groups by model, 30 days to some minute: all columns", record.Analysis{Query: edges, By: record.ByModel, Metrics: all, Limit: 100}),
		analysis("groups by api_key of a model's errors: requests, cost", record.Analysis{Query: both, By: record.ByKey, Metrics: record.MetricCost, Limit: 100}),
		analysis("graph by day two hours east: cost", record.Analysis{Query: wholly(), Metrics: record.MetricCost, Step: 24 * time.Hour, Zone: 2 * time.Hour}))
	out = append(out, analysis("groups by metadata: requests, cost, tokens, feedback", record.Analysis{
		Query: wholly(), By: record.ByMetadata, Key: "team", Metrics: record.MetricCost | record.MetricTokens | record.MetricFeedback | record.MetricSeen, Limit: 100,
	}))
	return out
}

func list(name string, narrow func(*record.Query)) question {
	q := wholly()
	q.Newest, q.Count = true, true
	narrow(&q)
	return question{name, func(ctx context.Context, db *duckdb.DB) error {
		_, err := db.List(ctx, q)
		return err
	}}
}

func analysis(name string, a record.Analysis) question {
	return question{name, func(ctx context.Context, db *duckdb.DB) error {
		_, err := db.Analyse(ctx, a)
		return err
	}}
}

// measure asks a question once to warm up, then so many times, and returns milliseconds.
func measure(ctx context.Context, db *duckdb.DB, q question, rounds int) ([]float64, error) {
	if err := q.ask(ctx, db); err != nil {
		return nil, err
	}
	took := make([]float64, rounds)
	for i := range took {
		began := time.Now()
		if err := q.ask(ctx, db); err != nil {
			return nil, err
		}
		took[i] = float64(time.Since(began).Microseconds()) / 1000
	}
	slices.Sort(took)
	return took, nil
}

// percentile is the least that so many of a hundred do not exceed.
func percentile(sorted []float64, percent int) float64 {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// forgetPeak begins the measurement of memory anew.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600) } // elsewhere than on Linux there is no peak

// peak is the most memory that the process had since forgetPeak, in bytes; 0 when the system
// does not say.
func peak() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kb int64
			if _, err := fmt.Sscan(rest, &kb); err == nil {
				return kb << 10
			}
		}
	}
	return 0
}
