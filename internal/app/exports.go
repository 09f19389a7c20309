package app

import (
	"context"
	"path/filepath"
	"time"

	"sluice/internal/control/logs"
	"sluice/internal/logstore/export"
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
	a.exports, a.exported = export.New(parts), export.Downloads{Files: files, ObjectStore: parts.ObjectStore, NodeID: a.journal.ID()}
	return nil
}

func (a *App) exportRetention() time.Duration {
	return time.Duration(a.set.Logs.ExportRetentionDays) * 24 * time.Hour
}

var _ logs.ExportFiles = export.Downloads{}
