package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// How long a connection waits while others lock the file, and how often it tries where SQLite
// does not wait automatically.
const (
	busyTimeout = 5 * time.Second
	busyPause   = 10 * time.Millisecond
)

func newSQLite() *engine {
	return &engine{
		name:    SQLite,
		dialect: func() schema.Dialect { return sqliteDialect{sqlitedialect.New()} },
		goose:   goose.DialectSQLite3,
		placeholders: strings.NewReplacer(
			"{id}", "VARCHAR(36)", "{word}", "VARCHAR(64)", "{name}", "VARCHAR(255)", "{exact}", "VARCHAR(255)",
			"{text}", "TEXT", "{blob}", "BLOB", "{table}", "", "{on records}", ""),
		several:  true,
		local:    true,
		clash:    "ON CONFLICT ({key}) DO UPDATE SET",
		nowMS:    "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
		writable: "SELECT '0'",
		judge:    classifySQLiteError,
		open:     openSQLite,
		tend:     runCheckpoints,
	}
}

type sqliteDialect struct{ *sqlitedialect.Dialect }

// AppendString quotes s without NUL.
func (d sqliteDialect) AppendString(b []byte, s string) []byte {
	return d.Dialect.AppendString(b, withoutNUL(s))
}

// openSQLite opens one writing connection, so that writers of this process queue in Go instead of
// receiving SQLITE_BUSY, and a read-only pool. It creates the file first, because SQLite would
// make it readable for every user.
func openSQLite(s Settings) (writer, reader *sql.DB, err error) {
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("make the SQLite path absolute: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("create the SQLite folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open SQLite file: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, nil, fmt.Errorf("open SQLite file: %w", err)
	}
	// synchronous FULL keeps a revoked key revoked after a power failure. Readers have it too,
	// because one of them moves committed pages into the file (runCheckpoints).
	if writer, err = sqlitePool(path, 1, "journal_mode(WAL)", "synchronous(FULL)", fmt.Sprintf("wal_autocheckpoint(%d)", maxWALPages)); err != nil {
		return nil, nil, err
	}
	if reader, err = sqlitePool(path, s.PoolSize, "query_only(1)", "synchronous(FULL)"); err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	return writer, reader, nil
}

func sqlitePool(path string, size int, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, pragmas...)}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	plain, err := sql.Open("sqlite", u.String()) // only to get its driver, which is not available otherwise
	if err != nil {
		return nil, fmt.Errorf("open SQLite file: %w", err)
	}
	db := sql.OpenDB(cachingConnector{plain.Driver(), u.String()})
	if err := plain.Close(); err != nil {
		return nil, fmt.Errorf("open SQLite file: %w", err)
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// classifySQLiteError classifies by the result codes of https://sqlite.org/rescode.html; the low
// byte is the primary code.
func classifySQLiteError(err error) errorClass {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return other
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return duplicate
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return again
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return unavailable
	case sqlite3.SQLITE_FULL:
		return full
	case sqlite3.SQLITE_IOERR:
		return failing
	case sqlite3.SQLITE_ERROR: // also returned for a wrong statement; there is no separate code
		if strings.Contains(e.Error(), "no such table") {
			return absent
		}
	}
	return other
}
