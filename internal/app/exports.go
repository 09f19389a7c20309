package app

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"sluice/internal/admin"
	"sluice/internal/fault"
	"sluice/internal/logstore/export"
)

// openExports makes what runs the log exports of this node. Their files lie below the data
// directory, and belong to the node as its journal does.
func (a *App) openExports(context.Context) error {
	files, err := export.Open(filepath.Join(a.set.Data.Dir, "exports"), int64(a.set.Logs.ExportMaxMB)<<20)
	if err != nil {
		return err
	}
	a.exported = exportFiles{files, a.journal.ID()}
	a.exports = export.New(export.Parts{
		Store: a.store, Logs: a.logs, Files: files, Columns: admin.ExportColumns, Node: a.journal.ID(), Keep: a.exportKeep(), Clock: a.clock, Log: a.log,
	})
	return nil
}

func (a *App) exportKeep() time.Duration {
	return time.Duration(a.set.Logs.ExportRetentionDays) * 24 * time.Hour
}

// exportMetrics shows what exports do.
func (a *App) exportMetrics() {
	m := a.metrics
	m.Total("sluice_log_export_rows_total", "Rows written to the files of log exports.", func() float64 { return float64(a.exports.Stats().Rows) })
	m.Total("sluice_log_exports_done_total", "Log exports that were done.", func() float64 { return float64(a.exports.Stats().Done) })
	m.Total("sluice_log_exports_failed_total", "Log exports that failed; each says why.", func() float64 { return float64(a.exports.Stats().Failed) })
	m.Gauge("sluice_log_export_bytes", "Size of the files of log exports on this node.", func() float64 { return float64(a.exported.Bytes()) })
}

// exportFiles are the files of exports as the administration asks for them.
type exportFiles struct {
	*export.Files
	node string
}

var _ admin.ExportFiles = exportFiles{}

// OpenExport implements admin.ExportFiles.
func (f exportFiles) OpenExport(id string) (io.ReadSeekCloser, error) {
	file, err := f.Read(id)
	if errors.Is(err, export.ErrGone) {
		return nil, fault.New(fault.NotFound, "the file is gone; make another export")
	}
	if err != nil {
		return nil, err // a nil *os.File in the interface would not be nil
	}
	return file, nil
}

// Node implements admin.ExportFiles.
func (f exportFiles) Node() string { return f.node }
