package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"
)

// Limits of the statements that a connection caches. They suffice for the statements of the
// administration's calls in all their forms. A full cache is cleared.
const (
	maxCachedStmts = 100
	maxStmtBytes   = 2000 // bytes of one statement; a long list makes a long one, and is rare
)

// stmtCacheConn is a connection to SQLite that prepares each statement with values once, because
// SQLite takes about as long to parse a query as to run it. Statements without values run once,
// unprepared. Like every connection it belongs to one goroutine.
type stmtCacheConn struct {
	sqliteConn
	stmts map[string]*cachedStmt
}

// sqliteConn lists the driver methods that database/sql calls.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// cachedStmt is a prepared statement, and whether its rows are still being read.
type cachedStmt struct {
	sqliteStmt
	busy bool
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachingConnector opens connections that cache prepared statements.
type cachingConnector struct {
	driver driver.Driver
	dsn    string
}

// Connect opens a connection. If several processes open a new file at once, SQLite rejects the
// change to WAL without waiting in all but the first. So Connect retries for a while.
func (k cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	c, err := k.driver.Open(k.dsn)
	for ; classifySQLiteError(err) == again; c, err = k.driver.Open(k.dsn) {
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(busyPause):
		}
	}
	if err != nil {
		return nil, err
	}
	conn, ok := c.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver lacks a required function"), c.Close())
	}
	return &stmtCacheConn{conn, make(map[string]*cachedStmt)}, nil
}

// Driver returns the driver of the connections.
func (k cachingConnector) Driver() driver.Driver { return k.driver }

// statement returns a cached statement whose rows are not being read; nil if it is not cached.
func (c *stmtCacheConn) statement(ctx context.Context, text string, values int) (*cachedStmt, error) {
	if values == 0 || len(text) > maxStmtBytes {
		return nil, nil
	}
	if s := c.stmts[text]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if len(c.stmts) >= maxCachedStmts {
		if err := c.forget(); err != nil {
			return nil, err
		}
	}
	made, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &cachedStmt{sqliteStmt: made.(sqliteStmt)}
	c.stmts[text] = s
	return s, nil
}

// forget closes the cached statements that are not being read.
func (c *stmtCacheConn) forget() error {
	var errs []error
	for text, s := range c.stmts {
		if !s.busy {
			errs = append(errs, s.Close())
			delete(c.stmts, text)
		}
	}
	return errors.Join(errs...)
}

// ExecContext runs a statement that returns no rows.
func (c *stmtCacheConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, text, len(args))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.sqliteConn.ExecContext(ctx, text, args)
	}
	return s.ExecContext(ctx, args)
}

// QueryContext runs a statement that returns rows.
func (c *stmtCacheConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, text, len(args))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return c.sqliteConn.QueryContext(ctx, text, args)
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &cachedRows{rows, s}, nil
}

// Close closes the cached statements and the connection.
func (c *stmtCacheConn) Close() error {
	for _, s := range c.stmts {
		s.busy = false
	}
	return errors.Join(c.forget(), c.sqliteConn.Close())
}

// cachedRows are the rows of a cached statement. Closing them frees the statement.
type cachedRows struct {
	driver.Rows
	stmt *cachedStmt
}

// Close ends the reading.
func (r *cachedRows) Close() error {
	r.stmt.busy = false
	return r.Rows.Close()
}
