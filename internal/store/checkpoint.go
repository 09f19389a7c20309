package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"
)

// SQLite commits into a log beside the file, and moves the pages of the log into the file
// now and then. Left alone it lets the writer do that who made the log long enough: once
// in some fifty changes one waits for two syncs and a thousand pages. So a goroutine of
// the store does it, on a connection that reads, while writers go on; whatever is not
// moved yet is safe in the log. The log begins anew when all of it was moved.
// Source: https://sqlite.org/wal.html, sections 2.1 and 3.
const (
	logPages         = 1000   // of the log that are worth moving: 4 MB, as SQLite itself has it
	maxWALPages      = 16_000 // at which the writer moves them if nobody else could: 64 MB
	walCheckInterval = 500 * time.Millisecond
	logLimit         = 15 * time.Second // one look, with what it finds to do

	openLog     = "PRAGMA schema_version" // a connection that never read anything has no log yet
	probeWALSQL = "PRAGMA wal_checkpoint(NOOP)"
	moveLog     = "PRAGMA wal_checkpoint(PASSIVE)" // waits for nobody, and nobody for it
)

// runCheckpoints keeps the log short until ctx ends.
func runCheckpoints(ctx context.Context, db *sql.DB, log *slog.Logger) {
	tick := time.NewTicker(walCheckInterval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, err := checkpointWAL(ctx, db)
		if err != nil && !failing && ctx.Err() == nil {
			log.Warn("cannot checkpoint the WAL; it continues to grow", "error", err.Error())
		}
		failing = err != nil
	}
}

// checkpointWAL moves the pages of a log that is long enough, as many as readers of older
// pages allow, and returns how many stay to be moved.
func checkpointWAL(ctx context.Context, db *sql.DB) (left int, err error) {
	ctx, cancel := context.WithTimeout(ctx, logLimit)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }() // it only goes back to the pool
	var version int64
	if err := conn.QueryRowContext(ctx, openLog).Scan(&version); err != nil {
		return 0, fmt.Errorf("%s: %w", openLog, err)
	}
	for _, step := range [...]string{probeWALSQL, moveLog} {
		var busy, pages, moved int
		if err := conn.QueryRowContext(ctx, step).Scan(&busy, &pages, &moved); err != nil {
			return 0, fmt.Errorf("%s: %w", step, err)
		}
		if left = pages - moved; left < logPages {
			break
		}
	}
	return left, nil
}
