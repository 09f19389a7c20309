package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"sluice/internal/app/options"
	"sluice/internal/kernel/lease"
	"sluice/internal/ops/config"
	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/clickhouse"
	"sluice/internal/storage/requestlog/duckdb"
	"sluice/internal/storage/sqlstore"
)

// openRows opens the store of the request log's rows.
func (a *requestLog) openRows(ctx context.Context) (requestlog.RowStore, error) {
	if !a.set.Analytics.Shared() {
		rows, err := duckdb.Open(ctx, duckdb.Options{
			Path: filepath.Join(a.set.Data.Dir, "logs", "logs.duckdb"), ReserveMB: a.set.Logs.DiskReserveMB, MemoryMB: a.set.Analytics.MemoryMB, Clock: a.clock, Logger: a.log,
		})
		if err != nil {
			return nil, err
		}
		a.closers = append(a.closers, rows)
		a.services.Add("rollups of the request log", rows.Run)
		return rows, nil
	}
	o := analyticsOptions(a.set, a.store, a.log)
	o.Node = a.nodeName()
	rows, err := clickhouse.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, rows)
	return rows, nil
}

// nodeName returns the name of this node in references to bodies. The row store numbers the
// bodies, because it records how far they are. Each row store has its own name, so that no store
// overwrites bodies that rows in another store refer to.
func (a *requestLog) nodeName() string {
	if !a.set.Analytics.Shared() {
		return a.journal.ID()
	}
	return a.journal.ID() + "." + a.set.Analytics.Database
}

// bodiesFolder returns the folder of the bodies below DATA_DIR/logs, by the same rule as
// nodeName.
func bodiesFolder(s config.Settings) string {
	if !s.Analytics.Shared() {
		return "bodies"
	}
	return "bodies." + s.Analytics.Database
}

// Instances create the tables of the log store under this lease.
const (
	tablesLease = "migrate log database"
	tablesTTL   = 5 * time.Minute
)

// analyticsOptions converts the settings to the options of the log store. The tables are created
// under a lease of the control-plane database.
func analyticsOptions(s config.Settings, leases *sqlstore.Store, log *slog.Logger) clickhouse.Options {
	return clickhouse.Options{
		Server: options.Analytics(s), RetentionDays: s.Logs.MetricsRetentionDays, Logger: log,
		Exclusive: func(ctx context.Context, work func(context.Context) error) error {
			return lease.RunExclusive(ctx, leases, tablesLease, tablesTTL, work)
		},
	}
}
