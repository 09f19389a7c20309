package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/uptrace/bun"
)

// statement is SQL with a ? for each of its values, which are strings, numbers or NULLs.
type statement struct {
	text string
	args []any
}

// add appends SQL with its values.
func (s *statement) add(text string, args ...any) {
	s.text += text
	s.args = append(s.args, args...)
}

// oneOf adds a condition that a column equals one of some values; there must be at least one. The
// list is padded with its last value to a power of two, so that lists of all lengths result in a
// few different statements, not a thousand.
func (s *statement) oneOf(column string, values []string) {
	capacity := 1
	for capacity < len(values) {
		capacity *= 2
	}
	s.text += column + " IN (?" + strings.Repeat(", ?", capacity-1) + ")"
	for i := range capacity {
		s.args = append(s.args, values[min(i, len(values)-1)])
	}
}

// inserted returns an INSERT of some rows, each with one value per named column.
func inserted(table, columns string, rows ...[]any) statement {
	row := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	s := statement{text: "INSERT INTO " + table + " (" + columns + ") VALUES " + row + strings.Repeat(", "+row, len(rows)-1)}
	for _, values := range rows {
		s.args = append(s.args, values...)
	}
	return s
}

// querier has the methods that a handle and a transaction share.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// plain returns a handle or transaction without bun.
func plain(db bun.IDB) querier {
	switch db := db.(type) {
	case *bun.DB:
		return db.DB
	case bun.Tx:
		return db.Tx
	}
	return db
}

// ask runs a statement and calls line with each row. If the database is a file, the values are
// passed next to the statement, which is prepared and cached (stmtCacheConn). For a server bun
// inserts the values into the statement, because preparing costs a round trip and poolers do not
// support it.
func (r reads) ask(ctx context.Context, s statement, line func(*sql.Rows) error) error {
	var rows *sql.Rows
	var err error
	if r.engine.local {
		rows, err = plain(r.db).QueryContext(ctx, s.text, s.plainArgs()...)
	} else {
		rows, err = r.db.QueryContext(ctx, s.text, s.args...)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := line(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// askOne works like ask for the values of a single row; it returns sql.ErrNoRows if there is
// none.
func (r reads) askOne(ctx context.Context, s statement, to ...any) error {
	err := sql.ErrNoRows
	if queryErr := r.ask(ctx, s, func(rows *sql.Rows) error {
		err = nil
		return rows.Scan(to...)
	}); queryErr != nil {
		return queryErr
	}
	return err
}

// held turns a query into one that locks the rows it finds until the end of the transaction.
func (t *tx) held(s statement) statement {
	if t.engine.lock != "" {
		s.text += " FOR " + t.engine.lock
	}
	return s
}

// all runs statements whose results are not needed: one by one if the database is a file,
// otherwise as one message if the engine accepts several, because each message is a round trip.
func (t *tx) all(ctx context.Context, statements ...statement) error {
	if t.engine.local {
		for _, s := range statements {
			if _, err := plain(t.db).ExecContext(ctx, s.text, s.plainArgs()...); err != nil {
				return err
			}
		}
		return nil
	}
	var texts []string
	for _, s := range statements {
		texts = append(texts, t.db.NewRaw(s.text, s.args...).String())
	}
	if t.engine.several && len(texts) > 0 {
		texts = []string{strings.Join(texts, "; ")}
	}
	for _, text := range texts {
		if _, err := t.db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// plainArgs returns the values without NUL, as bun would write them.
func (s statement) plainArgs() []any {
	for i, v := range s.args {
		if text, ok := v.(string); ok && strings.IndexByte(text, 0) >= 0 {
			s.args[i] = withoutNUL(text)
		}
	}
	return s.args
}
