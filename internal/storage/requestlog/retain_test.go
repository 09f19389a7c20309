package requestlog_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/requestlogtest"
)

// Whatever workspaces and settings there are: after Retain exactly the rows and bodies are
// there that a plain rule keeps, by the first Retain and by later ones, and what is written
// in between is kept too.
func TestRetainKeepsWhatARuleKeeps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		files, err := bodies.Open(bodies.Options{Dir: t.TempDir(), Node: "here", BlockBytes: 800, FileBytes: 2500})
		if err != nil {
			rt.Fatal(err)
		}
		rows := new(requestlogtest.Memory)
		j, err := journal.Open(journal.Options{Dir: t.TempDir(), SegmentBytes: 64 << 10, MaxRecordBytes: 32 << 10})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := j.Close(); err != nil {
				rt.Error(err)
			}
		}()
		s := requestlog.New(j.Records(), rows, files, requestlog.Options{Interval: time.Microsecond, BatchSize: 5, Node: "here", Pause: time.Nanosecond})
		day := func(label string) time.Time {
			return recordtest.Epoch.AddDate(0, 0, rapid.IntRange(0, 5).Draw(rt, label))
		}
		due := func(label string) requestlog.RetentionCutoffs {
			d := requestlog.RetentionCutoffs{Before: day(label), Workspaces: map[string]time.Time{}}
			for w := range rapid.IntRange(0, 3).Draw(rt, label) {
				d.Workspaces[fmt.Sprint("w", w)] = day(label)
			}
			return d
		}
		type outcome struct {
			a                      *record.Attempt
			listed, there, bodiful bool
		}
		var all []*outcome
		for round := range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			for n := range rapid.IntRange(0, 25).Draw(rt, "records") {
				a := recordtest.Chat(round*100 + n)
				a.WorkspaceID, a.Started = fmt.Sprint("w", rapid.IntRange(0, 3).Draw(rt, "workspace")), day("started").Add(time.Duration(n)*time.Microsecond)
				if err := j.Append(a); err != nil {
					rt.Fatal(err)
				}
				all = append(all, &outcome{a, true, true, true})
			}
			drain(rt, s)
			r := requestlog.Retention{Bodies: due("bodies"), Rows: due("rows"), Metrics: due("metrics")}
			if err := s.Retain(t.Context(), r); err != nil {
				rt.Fatal(err)
			}
			for _, f := range all {
				f.there = f.there && !r.Metrics.Has(f.a)
				f.listed = f.listed && f.there && !r.Rows.Has(f.a)
				f.bodiful = f.bodiful && f.listed && !r.Bodies.Has(f.a)
			}
			there := int64(0)
			for _, f := range all {
				if f.there {
					there++
				}
				got, err := s.Find(t.Context(), recordtest.Org, "", f.a.ID)
				if f.listed != (err == nil) || err != nil && !fault.Has(err, fault.NotFound) {
					rt.Fatalf("a row is there: %v, %v; want %v", err == nil, err, f.listed)
				}
				if have := string(got.Request.Bytes); f.bodiful != (have == string(f.a.Request.Bytes)) || !f.bodiful && have != "" {
					rt.Fatalf("a body %.40q is there; want %v", have, f.bodiful)
				}
			}
			page, err := s.Analyse(t.Context(), record.Analysis{Query: record.Query{OrgID: recordtest.Org, From: recordtest.Epoch.AddDate(0, 0, -1), To: recordtest.Epoch.AddDate(0, 0, 9)}})
			if err != nil || page.Rows[0].Requests != there {
				rt.Fatalf("figures of %+v, %v; want %d rows", page.Rows, err, there)
			}
		}
	})
}

// drain runs the store until it has everything.
func drain(rt *rapid.T, s *requestlog.Store) {
	ctx, stop := context.WithCancel(context.Background())
	stop() // Run takes over what is left and returns
	if err := s.Run(ctx); err != nil {
		rt.Fatal(err)
	}
}
