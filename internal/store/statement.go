package store

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

// add puts a piece of SQL with its values behind what is there.
func (s *statement) add(text string, args ...any) {
	s.text += text
	s.args = append(s.args, args...)
}

// oneOf adds a condition on a column: one of some values, of which there is one at least.
// The list is filled up with its last value to a power of two, so that lists of all
// lengths make a few statements, not a thousand.
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

// inserted is an INSERT of some rows, each of which has as many values as columns are
// named.
func inserted(table, columns string, rows ...[]any) statement {
	row := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	s := statement{text: "INSERT INTO " + table + " (" + columns + ") VALUES " + row + strings.Repeat(", "+row, len(rows)-1)}
	for _, values := range rows {
		s.args = append(s.args, values...)
	}
	return s
}

// querier is what a handle and a transaction have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// plain is a handle or transaction without bun.
func plain(db bun.IDB) querier {
	switch db := db.(type) {
	case *bun.DB:
		return db.DB
	case bun.Tx:
		return db.Tx
	}
	return db
}

// ask runs a statement that answers lines, and hands each to line. Where the database is a
// file the values go beside the statement, which is kept prepared (stmtCacheConn). A server gets
// them in it, as bun puts them: preparing is a journey, and poolers do not stand it.
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

// askOne is ask for the values of one line; sql.ErrNoRows when there is none.
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

// held is a look-up that holds the lines it finds until the end of the transaction.
func (t *tx) held(s statement) statement {
	if t.engine.lock != "" {
		s.text += " FOR " + t.engine.lock
	}
	return s
}

// all runs statements of which no answer is needed: one by one where the database is a
// file, else as one message if the engine takes several, because each is a journey.
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

// plainArgs are the values without NUL, as bun would write them.
func (s statement) plainArgs() []any {
	for i, v := range s.args {
		if text, ok := v.(string); ok && strings.IndexByte(text, 0) >= 0 {
			s.args[i] = withoutNUL(text)
		}
	}
	return s.args
}
