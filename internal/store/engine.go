package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/schema"

	"sluice/internal/fault"
)

// connectLimit bounds the making of one connection.
const connectLimit = 5 * time.Second

// engine holds everything in which the three databases differ.
type engine struct {
	name         string
	dialect      func() schema.Dialect
	goose        goose.Dialect
	placeholders *strings.Replacer  // the {words} of the migration files
	isolation    sql.IsolationLevel // of InTx; read committed on servers
	lock         string             // clause that locks the rows a transaction reads; empty where writers are alone
	several      bool               // takes several statements in one message
	local        bool               // the database is a file of ours: a statement waits for no network
	clash        string             // of onConflict, with {key} for the columns
	nowMS        string             // expression: the database's clock in Unix milliseconds
	writable     string             // query that answers "0" when the server takes writes
	judge        func(error) errorClass
	open         func(Settings) (writer, reader *sql.DB, err error)
	// tend does until ctx ends what else a server would do by itself, on a handle that
	// reads; nil for nothing.
	tend func(ctx context.Context, db *sql.DB, log *slog.Logger)
}

// onConflict begins what an INSERT does to the row that has its primary key already.
func (e *engine) onConflict(key string) string { return strings.ReplaceAll(e.clash, "{key}", key) }

// withLimit is the context of a statement, or of the statements of a transaction: it ends
// with the caller's and after the limit. Where the database is a file it does neither,
// because no statement hangs there, and to watch for the end costs more than a statement
// takes: database/sql and the driver start a goroutine each.
func (e *engine) withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if e.local {
		return context.WithoutCancel(ctx), func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// engineOf finds the engine by the name in the settings, which were checked.
func engineOf(name string) *engine {
	switch name {
	case Postgres:
		return newPostgres()
	case MySQL:
		return newMySQL()
	}
	return newSQLite()
}

// withoutNUL replaces NUL in values of statements. bun drops it on one engine and
// breaks the statement on the others; replaced, a look-up for such a text finds
// nothing. What is written was checked before.
func withoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// errorClass is what an error of a driver means to us.
type errorClass int

const (
	other       errorClass = iota
	duplicate              // a primary key or unique index has the value already
	again                  // deadlock, serialisation failure, busy: the transaction may be tried once more
	unavailable            // no server, or one that takes no writes
	exists                 // a table or index of a migration is there already, or gone where it goes
	full                   // no room to write in: reads go on
	failing                // a disk that fails, or was made read-only
	absent                 // a table that is not there: nobody has migrated yet
	denied                 // the login lacks a right
)

// verdictOn judges an error by the driver first, then by what all networks share.
func (e *engine) verdictOn(err error) errorClass {
	if errors.Is(err, context.Canceled) {
		return other // by our caller; drivers dress it up as a lost connection
	}
	if v := e.judge(err); v != other {
		return v
	}
	var netErr net.Error
	switch {
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, sql.ErrConnDone), errors.As(err, &netErr):
		return unavailable // context.DeadlineExceeded is a net.Error: a server that hangs is away too
	}
	return other
}

// ErrNoTables is that of a database which nobody has migrated yet.
var ErrNoTables = errors.New("the database has no tables yet")

// fault turns an error of a driver into what callers know, once, for all engines:
// Conflict, NotFound, Overloaded when no server answers, ErrNoTables, or the plain error
// with what was being done.
func (e *engine) fault(doing string, err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, sql.ErrNoRows) {
		return fault.Wrap(fault.NotFound, err)
	}
	switch e.verdictOn(err) {
	case duplicate:
		return fault.Wrap(fault.Conflict, err)
	case unavailable:
		return fault.New(fault.Overloaded, "the database is unreachable; retry shortly").WithCause(err)
	case absent:
		return fmt.Errorf("%w: %w", ErrNoTables, err)
	default:
		return err
	}
}
