package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/control/logs"
	"sluice/internal/domain/record"
	"sluice/internal/domain/tenant"
	"sluice/internal/provider/sign"
	"sluice/internal/storage/journal"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/export"
	"sluice/internal/storage/requestlog/feedback"
	"sluice/internal/storage/requestlog/objects"
	"sluice/internal/storage/requestlog/retention"
)

// requestLog is the journal, the log store that consumes it, and the exports of the log.
type requestLog struct {
	*base
	*database
	workspaceSlug func(workspaceID string) string // slug of a workspace; empty for an unknown one

	journal  *journal.Journal
	records  *journal.Records
	lines    *journal.Lines
	logs     *requestlog.Store
	bucket   *objects.Bucket // stores bodies; nil when files store them
	feedback *feedback.Follower
	exports  *export.Runner   // exports the log
	exported export.Downloads // files that exports write

	telemetry []exporter // services that export to collectors
}

// openLogs opens the journal and the log store that consumes it.
func (a *requestLog) openLogs(ctx context.Context) (err error) {
	a.journal, err = journal.Open(journal.Options{
		Dir: options.JournalDir(a.set), MaxRecordBytes: recordBytes(a.set.Logs.BodyMaxBytes()),
		MaxBytes: int64(a.set.Logs.JournalMaxMB) << 20, Sync: a.set.Logs.JournalSync, Clock: a.clock, Logger: a.log,
	})
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	a.closers = append(a.closers, a.journal)
	a.records, a.lines = a.journal.Records(), a.journal.Lines()
	rows, err := a.openRows(ctx)
	if err != nil {
		return fmt.Errorf("open request log: %w", err)
	}
	bodyStore, err := a.openBodies()
	if err != nil {
		return err
	}
	a.logs = requestlog.New(a.records, rows, bodyStore, requestlog.Options{Node: a.nodeName(), Logger: a.log})
	a.feedback = feedback.New(a.store, rows, a.log)
	return nil
}

// retention returns the job that deletes expired logs.
func (a *requestLog) retention() retention.Job {
	return retention.Job{
		Logs: a.logs, Deployment: options.Retention(a.set.Logs), Clock: a.clock, Log: a.log,
		Overrides: func(ctx context.Context) (map[string]tenant.Retention, error) {
			return logs.Retention(ctx, a.store)
		},
	}
}

// recordBytes returns the maximum size of a record in the journal: all bodies at their maximum
// size plus 1 MiB for the other fields, and at least 4 MiB.
func recordBytes(bodyMax int) int {
	const minBytes, rest = 4 << 20, 1 << 20
	return max(minBytes, len(new(record.Attempt).Bodies())*bodyMax+rest)
}

// openBodies opens the store of bodies: files, or a bucket together with older files from before
// the bucket was configured.
func (a *requestLog) openBodies() (requestlog.BodyStore, error) {
	dir := filepath.Join(a.set.Data.Dir, "logs", bodiesFolder(a.set))
	files, err := bodies.Open(bodies.Options{Dir: dir, Node: a.nodeName(), Clock: a.clock})
	if err != nil {
		return nil, fmt.Errorf("open stored bodies: %w", err)
	}
	if !a.set.LogStore.Remote() {
		a.closers = append(a.closers, files)
		return files, nil
	}
	a.bucket = objects.New(options.Bucket(a.set, sign.New(options.Sign(a.set, nil))))
	store := bodies.NewObjects(bodies.ObjectOptions{
		Dir: dir, Bucket: a.bucket, Node: a.nodeName(), Local: files, Format: bodies.Format(a.set.LogStore.Format), Slug: a.workspaceSlug,
	})
	a.closers = append(a.closers, store)
	return store, nil
}

// openExports creates the runner of this node's log exports. It writes their files below the data
// directory. If bodies are in a bucket, finished files are copied there too. If rows are shared
// as well, nodes take over the exports of nodes that do not respond.
func (a *requestLog) openExports(context.Context) error {
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

func (a *requestLog) exportRetention() time.Duration {
	return time.Duration(a.set.Logs.ExportRetentionDays) * 24 * time.Hour
}

var _ logs.ExportFiles = export.Downloads{}
