package control_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/control/logs"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/storage/requestlog/export"
	"sluice/internal/storage/sqlstore"
)

// exportRetention is how long the worlds keep files of log exports.
const exportRetention = 7 * 24 * time.Hour

// exports run the log exports of a world, when they are told to.
type exports struct {
	dir, node string
	files     *export.Files
	runner    *export.Runner
}

func newExports(t *testing.T, w *world, st *sqlstore.Store, rows *memoryLogs) *exports {
	t.Helper()
	e := &exports{dir: t.TempDir(), node: w.id("node")}
	var err error
	if e.files, err = export.Open(e.dir, 1<<30); err != nil {
		t.Fatal(err)
	}
	e.runner = export.New(export.Parts{
		Store: st, Logs: rows, Files: e.files, Columns: logs.ExportColumns, Node: e.node, Retention: exportRetention, Clock: w.clock, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	return e
}

// OpenExport implements logs.ExportFiles.
func (e *exports) OpenExport(_ context.Context, id string, _ record.ExportRun) (io.ReadSeekCloser, error) {
	f, err := e.files.Read(id)
	if err != nil {
		return nil, fault.New(fault.NotFound, "the file is gone").WithCause(err)
	}
	return f, nil
}

// Node implements logs.ExportFiles.
func (e *exports) Node() string { return e.node }

// writeFile puts a file where that of an export would be.
func (e *exports) writeFile(t *testing.T, id string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, id), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run does what there is to do.
func (e *exports) run(t *testing.T) {
	t.Helper()
	if err := e.runner.RunPending(t.Context()); err != nil {
		t.Fatal(err)
	}
}
