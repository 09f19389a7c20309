package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"sluice/internal/logstore"
	"sluice/internal/logstore/bodies"
	"sluice/internal/record"
)

// Write implements logstore.Rows.
func (d *DB) Write(ctx context.Context, fill func(logstore.Add) (logstore.Progress, error)) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn == nil {
		return errors.New("log database is closed")
	}
	if err := d.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return err
	}
	stored := false
	defer func() {
		d.series.settle(stored)
		if !stored { // after a commit that failed there is nothing left to undo
			_ = d.exec(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if err := d.write(ctx, fill); err != nil {
		return err
	}
	if err := d.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	stored = true
	return nil
}

// write appends what fill adds and then notes its progress.
func (d *DB) write(ctx context.Context, fill func(logstore.Add) (logstore.Progress, error)) error {
	w := &writer{db: d}
	p, err := fill(w.add)
	if err := w.close(ctx, err); err != nil {
		return err
	}
	return d.exec(ctx, "UPDATE progress SET next_seq = ?, body_file = ?, body_size = ?",
		p.Next.Seq, p.Bodies.File, p.Bodies.Size)
}

// exec runs a statement on the writer's connection.
func (d *DB) exec(ctx context.Context, query string, args ...driver.Value) error {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	if _, err := d.conn.(driver.ExecerContext).ExecContext(ctx, query, named); err != nil {
		return fmt.Errorf("write log database: %w", err)
	}
	return nil
}

// writer appends the rows of one transaction.
type writer struct {
	db     *DB
	rows   *duckdb.Appender
	series *duckdb.Appender
	encoder
}

func (w *writer) add(a *record.Attempt, ref bodies.Ref) error {
	b := *a
	if unique(a.Request.Type) { // kept in extra
		b.Request.Type = ""
	}
	if unique(a.Response.Type) {
		b.Response.Type = ""
	}
	id, fresh := w.db.series.number(&b)
	if fresh {
		if err := w.append(&w.series, "series", seriesRow(id, &b)); err != nil {
			return err
		}
	}
	row, err := w.rowValues(a, id, ref)
	if err != nil {
		return err
	}
	return w.append(&w.rows, "attempts", row)
}

func (w *writer) append(to **duckdb.Appender, table string, row []driver.Value) error {
	if *to == nil {
		a, err := duckdb.NewAppenderFromConn(w.db.conn, "", table)
		if err != nil {
			return fmt.Errorf("write log %s: %w", table, err)
		}
		*to = a
	}
	if err := (*to).AppendRow(row...); err != nil {
		return fmt.Errorf("write log %s: %w", table, err)
	}
	return nil
}

// close ends the appenders. What they hold is thrown away when there was an error.
func (w *writer) close(ctx context.Context, err error) error {
	for _, a := range []*duckdb.Appender{w.series, w.rows} {
		if a == nil {
			continue
		}
		if err != nil {
			err = errors.Join(err, a.Clear())
		}
		if e := a.CloseWithCancel(ctx); e != nil {
			err = errors.Join(err, fmt.Errorf("write log rows: %w", e))
		}
	}
	return err
}
