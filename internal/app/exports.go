package app

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"sluice/internal/control/logs"
	"sluice/internal/fault"
	"sluice/internal/logstore/bodies"
	"sluice/internal/logstore/export"
	"sluice/internal/record"
)

// openExports creates the runner of this node's log exports. It writes their files below the data
// directory. If bodies are in a bucket, finished files are copied there too. If rows are shared
// as well, nodes take over the exports of nodes that do not respond.
func (a *App) openExports(context.Context) error {
	files, err := export.Open(filepath.Join(a.set.Data.Dir, "exports"), int64(a.set.Logs.ExportMaxMB)<<20)
	if err != nil {
		return err
	}
	parts := export.Parts{
		Store: a.store, Logs: a.logs, Files: files, Columns: logs.ExportColumns, Node: a.journal.ID(), Retention: a.exportRetention(), Clock: a.clock, Log: a.log,
	}
	if a.bucket != nil {
		if parts.ObjectStore = export.NewObjectStore(a.bucket); a.set.Analytics.Shared() {
			parts.Leases = a.store
		}
	}
	a.exports, a.exported = export.New(parts), exportFiles{files, parts.ObjectStore, a.journal.ID()}
	return nil
}

func (a *App) exportRetention() time.Duration {
	return time.Duration(a.set.Logs.ExportRetentionDays) * 24 * time.Hour
}

// exportMetrics registers the metrics of exports.
func (a *App) exportMetrics() {
	m := a.metrics
	m.Total("sluice_log_export_rows_total", "Number of rows written to log export files.", func() float64 { return float64(a.exports.Stats().Rows) })
	m.Total("sluice_log_exports_done_total", "Number of completed log exports.", func() float64 { return float64(a.exports.Stats().Done) })
	m.Total("sluice_log_exports_failed_total", "Number of failed log exports; the export contains the reason.", func() float64 { return float64(a.exports.Stats().Failed) })
	m.Gauge("sluice_log_export_bytes", "Total size of the log export files on this node.", func() float64 { return float64(a.exported.Bytes()) })
}

// exportFiles gives the administration access to the files of exports.
type exportFiles struct {
	*export.Files
	store *export.ObjectStore // nil without a bucket
	node  string
}

var _ logs.ExportFiles = exportFiles{}

// OpenExport implements logs.ExportFiles.
func (f exportFiles) OpenExport(ctx context.Context, id string, run record.ExportRun) (file io.ReadSeekCloser, err error) {
	switch {
	case !run.Shared:
		file, err = f.read(id)
	case f.store == nil:
		return nil, fault.New(fault.NotFound, "the file is in the bucket of the log store, which this node does not use; set LOG_STORE, or create another export")
	default:
		file, err = f.store.Open(ctx, id, run.ID, run.Mark.Bytes)
	}
	switch {
	case errors.Is(err, export.ErrGone):
		return nil, fault.New(fault.NotFound, "the file no longer exists; create another export")
	case errors.Is(err, bodies.ErrUnavailable):
		return nil, fault.New(fault.Overloaded, "the bucket with the file is unavailable; retry shortly").WithCause(err)
	}
	return file, err
}

// read opens a file of this node.
func (f exportFiles) read(id string) (io.ReadSeekCloser, error) {
	file, err := f.Read(id)
	if err != nil {
		return nil, err // a nil *os.File in the interface would not be nil
	}
	return file, nil
}

// Node implements logs.ExportFiles.
func (f exportFiles) Node() string { return f.node }
