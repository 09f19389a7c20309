package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"sluice/internal/kernel/fault"
)

// base opens connections to the present file, so that the file can be closed and opened again
// below a sql.DB. The file is closed after every connection: while one remains, the library
// returns the same database for the same path.
type base struct {
	mu        sync.Mutex        // guards the following fields
	connector *duckdb.Connector // nil while no file is open
	reason    error             // why connections and statements are rejected; nil while they are not
	conns     map[*conn]struct{}
	empty     sync.Cond // with mu: signals that conns is empty
}

var _ driver.Connector = (*base)(nil)

var errClosed = errors.New("log database is closed")

// newBase returns a base without a file.
func newBase() *base {
	b := &base{reason: errClosed, conns: map[*conn]struct{}{}}
	b.empty.L = &b.mu
	return b
}

// unavailableError is the error of queries and of the writer while the database is unusable.
func unavailableError(why error) error {
	return fault.New(fault.Overloaded, "the request log is unavailable until its disk has free space, but no data is lost; retry shortly").
		WithRetry(5 * time.Second).WithCause(why)
}

// begin starts to open connections to a file.
func (b *base) begin(c *duckdb.Connector) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.connector, b.reason = c, nil
}

// refuse ends the statements in progress and rejects new ones. The first reason remains, but a
// closed database replaces it.
func (b *base) refuse(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reason == nil || errors.Is(why, errClosed) {
		b.reason = why
	}
	for c := range b.conns {
		if c.cancel != nil {
			c.cancel()
		}
	}
}

// err returns why there are no connections; nil if there are.
func (b *base) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reason
}

// judge checks the error of a statement. After a fatal error the database accepts no statements
// until it is reopened. judge returns the error for the caller.
func (b *base) judge(err error) error {
	if err == nil {
		return nil
	}
	var why *duckdb.Error
	if errors.As(err, &why) && why.Type == duckdb.ErrorTypeFatal {
		b.refuse(unavailableError(err))
	}
	if away := b.err(); away != nil { // it may have ended the statement
		return away
	}
	return err
}

// wait returns when every connection is closed.
func (b *base) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.conns) > 0 {
		b.empty.Wait()
	}
}

// end closes the file, after wait.
func (b *base) end() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.connector == nil {
		return nil
	}
	c := b.connector
	b.connector = nil
	return c.Close()
}

// Connect implements driver.Connector.
func (b *base) Connect(ctx context.Context) (driver.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reason != nil {
		return nil, b.reason
	}
	inner, err := b.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner.(*duckdb.Conn), base: b}
	b.conns[c] = struct{}{}
	return c, nil
}

// Driver implements driver.Connector.
func (b *base) Driver() driver.Driver { return duckdb.Driver{} }

// conn is a connection whose statements end when the file is about to be closed.
type conn struct {
	*duckdb.Conn
	base   *base
	cancel context.CancelFunc // ends the statement in progress; nil without one; guarded by base.mu
}

// during returns the context of a statement, and a function to call when it has ended.
func (c *conn) during(ctx context.Context) (_ context.Context, done func(), err error) {
	c.base.mu.Lock()
	defer c.base.mu.Unlock()
	if c.base.reason != nil {
		return nil, nil, c.base.reason
	}
	ctx, cancel := context.WithCancel(ctx)
	c.cancel = cancel
	return ctx, func() {
		c.base.mu.Lock()
		defer c.base.mu.Unlock()
		c.cancel = nil
		cancel()
	}, nil
}

// runStatement runs a statement.
func runStatement[T any](ctx context.Context, c *conn, statement func(context.Context) (T, error)) (out T, err error) {
	ctx, done, err := c.during(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	out, err = statement(ctx)
	return out, c.base.judge(err)
}

// QueryContext implements driver.QueryerContext. All rows are in memory when it returns.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return runStatement(ctx, c, func(ctx context.Context) (driver.Rows, error) { return c.Conn.QueryContext(ctx, query, args) })
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return runStatement(ctx, c, func(ctx context.Context) (driver.Result, error) { return c.Conn.ExecContext(ctx, query, args) })
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return runStatement(ctx, c, func(ctx context.Context) (driver.Tx, error) { return c.Conn.BeginTx(ctx, o) })
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.base.mu.Lock()
	defer c.base.mu.Unlock()
	delete(c.base.conns, c)
	if len(c.base.conns) == 0 {
		c.base.empty.Broadcast()
	}
	return err
}
