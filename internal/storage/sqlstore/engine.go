package sqlstore

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

	"sluice/internal/kernel/fault"
)

// connectLimit is the time limit for opening one connection.
const connectLimit = 5 * time.Second

// engine contains everything in which the three databases differ.
type engine struct {
	name         string
	dialect      func() schema.Dialect
	goose        goose.Dialect
	placeholders *strings.Replacer  // the {words} of the migration files
	isolation    sql.IsolationLevel // of InTx; read committed on servers
	lock         string             // clause that locks the rows a transaction reads; empty if there is only one writer
	several      bool               // accepts several statements in one message
	local        bool               // the database is a local file: a statement waits for no network
	clash        string             // clause of onConflict, with {key} for the columns
	nowMS        string             // expression: the database's clock in Unix milliseconds
	writable     string             // query that returns "0" if the server accepts writes
	judge        func(error) errorClass
	open         func(Settings) (writer, reader *sql.DB, err error)
	// tend runs until ctx ends, on a handle that reads. It does maintenance that other servers do
	// automatically; nil if there is none.
	tend func(ctx context.Context, db *sql.DB, log *slog.Logger)
}

// onConflict returns the start of the clause that updates an existing row with the same primary
// key.
func (e *engine) onConflict(key string) string { return strings.ReplaceAll(e.clash, "{key}", key) }

// withLimit returns the context of a statement, or of the statements of a transaction: it ends
// with ctx and after the limit. If the database is a file it returns ctx without either, because
// statements do not hang there, and watching for the end costs more than a statement:
// database/sql and the driver start a goroutine each.
func (e *engine) withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if e.local {
		return context.WithoutCancel(ctx), func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// engineOf returns the engine with a name of the settings, which were checked.
func engineOf(name string) *engine {
	switch name {
	case Postgres:
		return newPostgres()
	case MySQL:
		return newMySQL()
	}
	return newSQLite()
}

// withoutNUL replaces NUL in values of statements. bun drops NUL on one engine and breaks the
// statement on the others. With the replacement, a search for such a string finds nothing.
// Written values were checked before.
func withoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// errorClass classifies a driver error.
type errorClass int

const (
	other       errorClass = iota
	duplicate              // a primary key or unique index already contains the value
	again                  // deadlock, serialisation failure, busy: the transaction may be tried again
	unavailable            // no server, or one that accepts no writes
	exists                 // a table or index of a migration exists already, or is already dropped
	full                   // no disk space to write: reads continue
	failing                // a disk that fails, or is read-only
	absent                 // a table does not exist: the database is not migrated
	denied                 // the login lacks a right
)

// verdictOn classifies an error by the driver first, then by what all networks share.
func (e *engine) verdictOn(err error) errorClass {
	if errors.Is(err, context.Canceled) {
		return other // cancelled by the caller; drivers report it as a lost connection
	}
	if v := e.judge(err); v != other {
		return v
	}
	var netErr net.Error
	switch {
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, sql.ErrConnDone), errors.As(err, &netErr):
		return unavailable // context.DeadlineExceeded is a net.Error: a hanging server is unavailable too
	}
	return other
}

// ErrNoTables reports a database that was never migrated.
var ErrNoTables = errors.New("the database has no tables yet")

// fault converts a driver error to one that callers recognise, the same for all engines:
// Conflict, NotFound, Overloaded if no server responds, ErrNoTables, or the plain error with the
// operation.
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
