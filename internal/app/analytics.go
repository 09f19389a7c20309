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

// openRows opens where the rows of the request log are.
func (a *App) openRows(ctx context.Context) (logstore.RowStore, error) {
	if !a.set.Analytics.Shared() {
		rows, err := duckdb.Open(ctx, duckdb.Options{
			Path: filepath.Join(a.set.Data.Dir, "logs", "logs.duckdb"), ReserveMB: a.set.Logs.DiskReserveMB, MemoryMB: a.set.Analytics.MemoryMB, Clock: a.clock, Logger: a.log,
		})
		if err != nil {
			return nil, err
		}
		a.closers = append(a.closers, rows)
		a.background = append(a.background, service{"rollups of the request log", rows.Run})
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

// nodeName is the name of this node in references to bodies. Bodies are numbered by the store
// of the rows, which knows how far they are: each store has its own, so that none takes the
// place of what rows in another refer to.
func (a *App) nodeName() string {
	if !a.set.Analytics.Shared() {
		return a.journal.ID()
	}
	return a.journal.ID() + "." + a.set.Analytics.Database
}

// bodiesFolder is where bodies lie below DATA_DIR/logs, by the same rule as home.
func bodiesFolder(s config.Settings) string {
	if !s.Analytics.Shared() {
		return "bodies"
	}
	return "bodies." + s.Analytics.Database
}

// analyticsOptions put the settings into the words of the log store. The tables are made
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

// How instances that make the tables wait for each other.
const (
	aloneLease = "migrate log database"
	aloneTTL   = 5 * time.Minute
	alonePause = 200 * time.Millisecond
)

// alone runs work under a lease. What it does may be done twice, so it is not kept from
// running by a database that takes no writes, nor stopped when it outlasts the lease.
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

// checkAnalytics asks ClickHouse whether it can keep the rows of the request log.
func checkAnalytics(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "analytics store"}
	if !s.Analytics.Shared() {
		f.Detail = "rows of the request log are stored in a file under DATA_DIR (ANALYTICS_STORE)"
		return f
	}
	f.Detail, f.Err = clickhouse.Check(ctx, analyticsServer(s))
	f.Hint = clickhouse.Hint(f.Err)
	return f
}
