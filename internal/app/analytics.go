package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"sluice/internal/background"
	"sluice/internal/config"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/logstore"
	"sluice/internal/logstore/clickhouse"
	"sluice/internal/logstore/clickhouse/client"
	"sluice/internal/logstore/duckdb"
	"sluice/internal/store"
)

// openRows opens the store of the request log's rows.
func (a *App) openRows(ctx context.Context) (logstore.RowStore, error) {
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
func (a *App) nodeName() string {
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

// analyticsOptions converts the settings to the options of the log store. The tables are created
// under a lease of the control-plane database.
func analyticsOptions(s config.Settings, leases *store.Store, log *slog.Logger) clickhouse.Options {
	return clickhouse.Options{
		Server: analyticsServer(s), RetentionDays: s.Logs.MetricsRetentionDays, Logger: log,
		Exclusive: func(ctx context.Context, work func(context.Context) error) error { return alone(ctx, leases, work) },
	}
}

func analyticsServer(s config.Settings) client.Server {
	a := s.Analytics
	return client.Server{URL: a.URL, User: a.User, Password: a.Password, Database: a.Database, TLS: a.TLSConfig(), Timeout: a.Timeout}
}

// Timing of the lease under which instances create the tables.
const (
	aloneLease = "migrate log database"
	aloneTTL   = 5 * time.Minute
	alonePause = 200 * time.Millisecond
)

// alone runs work under a lease. The work may safely run twice. So it also runs while the
// database accepts no writes, and it continues when it outlasts the lease.
func alone(ctx context.Context, leases *store.Store, work func(context.Context) error) error {
	holder := ident.NewID()
	for {
		got, err := leases.TakeLease(ctx, aloneLease, holder, aloneTTL)
		if got || fault.Has(err, fault.ReadOnly) {
			break
		}
		if err != nil {
			return err
		}
		if err := background.Sleep(ctx, alonePause); err != nil {
			return err
		}
	}
	err := work(ctx)
	if release := leases.ReleaseLease(context.WithoutCancel(ctx), aloneLease, holder); err == nil && !fault.Has(release, fault.ReadOnly) {
		err = release
	}
	return err
}
