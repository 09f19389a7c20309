package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"
)

// SQLite commits to a log next to the file, and sometimes moves the log's pages into the file. By
// default the writer that fills the log does that: about every fiftieth change waits for two
// syncs and a thousand pages. So a goroutine of the store does it on a reading connection, while
// writers continue. Pages that are not moved yet are safe in the log. The log restarts when all
// its pages are moved.
// Source: https://sqlite.org/wal.html, sections 2.1 and 3.
const (
	logPages         = 1000   // pages in the log that are worth moving: 4 MB, SQLite's default
	maxWALPages      = 16_000 // pages at which the writer moves them if nothing else could: 64 MB
	walCheckInterval = 500 * time.Millisecond
	logLimit         = 15 * time.Second // limit of one check and the move that follows

	openLog     = "PRAGMA schema_version" // a connection that has not read anything has no log yet
	probeWALSQL = "PRAGMA wal_checkpoint(NOOP)"
	moveLog     = "PRAGMA wal_checkpoint(PASSIVE)" // waits for no connection and blocks none
)

// runCheckpoints limits the length of the log until ctx ends.
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

// checkpointWAL moves the pages of a long log, as many as readers of older pages allow, and
// returns how many remain.
func checkpointWAL(ctx context.Context, db *sql.DB) (left int, err error) {
	ctx, cancel := context.WithTimeout(ctx, logLimit)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }() // it only returns to the pool
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
