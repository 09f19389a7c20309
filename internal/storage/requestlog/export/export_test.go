package export_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/storage/requestlog/export"
)

// wantRows is what the rows of an export of chats must be: the newest first, from one to another.
func wantRows(fields []string, newest, oldest int) (rows []map[string]any) {
	for n := newest; n >= oldest; n-- {
		a := recordtest.Chat(n)
		all := map[string]any{
			"id": a.ID, "trace_id": a.TraceID, "created_at": a.Started.Format("2006-01-02T15:04:05.000Z"), "is_success": true, "ai_org": "openai", "ai_model": "gpt-4o-mini",
			"total_units": 168.0, "cost": nil, "cost_currency": "USD", "response_time": float64(a.Duration.Milliseconds()), "response_status_code": 200.0, "prompt_slug": nil,
			"metadata": map[string]any{"_user": "alice@example.com", "team": "search"}, "config": "pc-routing-3f9x2a",
		}
		row := map[string]any{}
		for _, f := range fields {
			row[f] = all[f]
		}
		rows = append(rows, row)
	}
	return rows
}

var plainFields = []string{
	"trace_id", "id", "created_at", "is_success", "ai_org", "ai_model", "total_units", "cost", "cost_currency", "response_time", "response_status_code", "prompt_slug", "metadata", "config",
}

// Whatever the form of the file and however many parts it has, it has the rows of the log.
func TestFormsHoldTheRows(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 1000, 2300} {
		w := newWorld(t, rows, 1<<30)
		for _, format := range []record.ExportFormat{record.ExportJSONL, record.ExportParquet} {
			for _, c := range []record.ExportCompression{record.ExportPlain, record.ExportGzip, record.ExportZstd} {
				name := fmt.Sprintf("%d rows, %s, %s", rows, format, c)
				id, e := w.run(t, record.Export{Fields: plainFields, Format: format, Compression: c})
				if e.State != record.ExportDone || e.Run.Total != int64(rows) || e.Run.Mark.Rows != int64(rows) || !e.Run.Ended.Equal(later) {
					t.Fatalf("%s: %+v", name, e)
				}
				if diff := cmp.Diff(wantRows(plainFields, rows-1, 0), w.read(t, id, e)); diff != "" {
					t.Errorf("%s (-want +got):\n%.1000s", name, diff)
				}
			}
		}
		if s := w.runner.Stats(); s.Done != 6 || s.Failed != 0 || s.Rows != int64(6*rows) {
			t.Errorf("%+v", s)
		}
	}
}

// Bodies are read row by row; a body that is gone is null.
func TestBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 300, 1<<30)
	gone := recordtest.Chat(7).ID
	delete(w.logs.byID, gone)
	for _, format := range []record.ExportFormat{record.ExportJSONL, record.ExportParquet} {
		id, e := w.run(t, record.Export{Fields: []string{"id", "request", "response"}, Format: format, Compression: record.ExportPlain})
		rows := w.read(t, id, e)
		if len(rows) != 300 {
			t.Fatalf("%d rows", len(rows))
		}
		for i, row := range rows {
			if row["id"] == gone {
				if row["request"] != nil || row["response"] != nil {
					t.Errorf("%v", row)
				}
				continue
			}
			body := row["request"].(map[string]any)["body"].(map[string]any)
			if text := fmt.Sprint(body["messages"]); !strings.Contains(text, fmt.Sprintf("Question %d:", 299-i)) {
				t.Fatalf("row %d: %s", i, text)
			}
		}
	}
}

// Filters, pages and the view of who started it choose the rows.
func TestSelection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2500, 1<<30)
	page := func(size, number int) record.ExportFilters {
		return record.ExportFilters{PageSize: &size, CurrentPage: &number}
	}
	from, to := recordtest.Chat(100).Started.Format(time.RFC3339Nano), recordtest.Chat(200).Started.Format(time.RFC3339Nano)
	for name, c := range map[string]struct {
		e              record.Export
		newest, oldest int
	}{
		"first page":   {record.Export{Filters: page(1200, 0)}, 2499, 1300},
		"second page":  {record.Export{Filters: page(1200, 1)}, 1299, 100},
		"third page":   {record.Export{Filters: page(1200, 2)}, 99, 0},
		"no such page": {record.Export{Filters: page(1200, 3)}, -1, 0},
		"a time":       {record.Export{Filters: record.ExportFilters{From: from, To: to}}, 199, 100},
		"nobody's":     {record.Export{Run: record.ExportRun{Only: "ada"}}, -1, 0},
	} {
		c.e.Fields = []string{"id"}
		id, e := w.run(t, c.e)
		if e.Run.Total != int64(c.newest-c.oldest+1) {
			t.Errorf("%s: %d rows were counted", name, e.Run.Total)
		}
		if diff := cmp.Diff(wantRows(c.e.Fields, c.newest, c.oldest), w.read(t, id, e)); diff != "" {
			t.Errorf("%s (-want +got):\n%.500s", name, diff)
		}
	}
}

// What is stopped, or whose workspace is gone, ends at its next part, and nothing is left.
func TestStopped(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*resource.Record, *record.Export){
		"cancelled": func(r *resource.Record, e *record.Export) { e.State, r.Index = record.ExportStopped, nil },
		"archived":  func(r *resource.Record, _ *record.Export) { r.Status = resource.Archived },
		"run anew":  func(r *resource.Record, e *record.Export) { e.Run.ID, r.Index = "another", nil },
	} {
		w := newWorld(t, 2500, 1<<30)
		id, err := w.order(t.Context(), record.Export{Fields: []string{"id"}})
		if err != nil {
			t.Fatal(err)
		}
		pages := 0
		w.logs.before = func(string) error {
			if pages++; pages < 3 {
				return nil
			}
			return w.edit(t.Context(), id, stop)
		}
		if err := w.runner.RunPending(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if e := w.find(t, id); e.State == record.ExportDone || len(w.files.List()) > 0 || pages != 3 {
			t.Errorf("%s: %s behind %d pages, and there are the files %v", name, e.State, pages, w.files.List())
		}
	}
}

// What cannot be written or read fails with its cause, and leaves no file.
func TestCauses(t *testing.T) {
	t.Parallel()
	broken := errors.New("select from attempts: disk image is malformed")
	for name, c := range map[string]struct {
		maxBytes int64
		before   func(string) error
		message  string
	}{
		"no room": {10_000, func(string) error { return nil }, "LOG_EXPORT_MAX_MB"},
		"no log":  {1 << 30, func(step string) error { return map[string]error{"list": broken}[step] }, "cannot read the request log"},
	} {
		w := newWorld(t, 1000, c.maxBytes)
		w.logs.before = c.before
		_, e := w.run(t, record.Export{Fields: plainFields})
		if e.State != record.ExportFailed || !strings.Contains(e.Run.Error, c.message) || strings.Contains(e.Run.Error, "malformed") || len(w.files.List()) > 0 || e.Run.Ended.IsZero() {
			t.Errorf("%s: %+v, files %v", name, e, w.files.List())
		}
		if w.runner.Stats().Failed != 1 {
			t.Errorf("%s: %+v", name, w.runner.Stats())
		}
	}
}

// While the control plane takes no writes a run waits, and then goes on where it was.
func TestControlPlaneAway(t *testing.T) {
	t.Parallel()
	writes, unavailable := 0, errors.New("the writer is away")
	inspect := func(step string) error {
		if step == "before" {
			if writes++; writes%2 == 0 {
				return unavailable
			}
		}
		return nil
	}
	w, err := open(t.Context(), t.TempDir(), 2500, 1<<30, inspect, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.store.Close() }() // the test is over
	id, err := w.order(t.Context(), record.Export{Fields: []string{"id"}, Compression: record.ExportGzip})
	if err != nil {
		t.Fatal(err)
	}
	turns := 1
	for ; w.runner.RunPending(t.Context()) != nil; turns++ {
		if turns > 20 {
			t.Fatal("it does not come to an end")
		}
	}
	e := w.find(t, id)
	if diff := cmp.Diff(wantRows([]string{"id"}, 2499, 0), w.read(t, id, e)); diff != "" || turns < 3 {
		t.Errorf("behind %d turns (-want +got):\n%.500s", turns, diff)
	}
}

// Files go when their time is over, or when nobody can ask for them any more.
func TestSweep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, 1<<30)
	old, _ := w.run(t, record.Export{Fields: []string{"id"}})
	w.clock.wait(retention - time.Hour)
	young, _ := w.run(t, record.Export{Fields: []string{"id"}})
	archived, _ := w.run(t, record.Export{Fields: []string{"id"}})
	if err := w.edit(t.Context(), archived, func(r *resource.Record, _ *record.Export) { r.Status = resource.Archived }); err != nil {
		t.Fatal(err)
	}
	w.clock.wait(time.Hour)
	if err := w.runner.RunPending(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := w.files.List(); len(left) != 1 || left[0] != young {
		t.Errorf("left are %v, want %s, without %s", left, young, old)
	}
	if _, err := w.files.Read(old); !errors.Is(err, export.ErrGone) {
		t.Error(err)
	}
}

// A run of the program that begins while an export is under way finds it.
func TestRunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10, 1<<30)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.runner.Run(ctx) }()
	id, err := w.order(t.Context(), record.Export{Fields: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	for w.runner.Stats().Done == 0 {
		w.runner.Wake()
		select {
		case <-t.Context().Done():
			t.Fatal("it was not run")
		case <-time.After(time.Millisecond):
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if e := w.find(t, id); e.State != record.ExportDone {
		t.Errorf("%+v", e)
	}
}

// On a disk that is full an export fails and says so, and what it took is given back.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a small file system cannot be mounted here (it takes root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	w := newWorldIn(t, dir, 2000)
	_, e := w.run(t, record.Export{Fields: plainFields})
	if e.State != record.ExportFailed || e.Run.Error != "the disk is full" {
		t.Errorf("%+v", e)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
	if id, e := w.run(t, record.Export{Fields: []string{"id"}, Compression: record.ExportZstd, Format: record.ExportJSONL}); e.State != record.ExportDone {
		t.Errorf("a small one behind it, %s: %+v", id, e)
	}
}
