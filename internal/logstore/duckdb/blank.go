package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"sluice/internal/logstore"
	"sluice/internal/record"
)

// Blank implements logstore.Rows.
func (d *DB) Blank(ctx context.Context, due logstore.Due) (int64, error) {
	n, err := eachWave(due, func(wave logstore.Wave) (int64, error) { return d.blankPart(ctx, wave) })
	if err != nil {
		return 0, fmt.Errorf("blank log rows: %w", err)
	}
	return n, nil
}

func (d *DB) blankPart(ctx context.Context, wave logstore.Wave) (int64, error) {
	w, in, there, err := d.part(ctx, wave, isShown)
	if err != nil || !there {
		return 0, err
	}
	return d.change(ctx, in, func(tx *sql.Tx) (int64, error) {
		if err := deleteTrail(ctx, tx, &w); err != nil {
			return 0, err
		}
		series, err := d.blankSeries(ctx, tx, &w)
		if err != nil {
			return 0, err
		}
		return exec(ctx, tx, "UPDATE attempts SET "+blankColumns+", series = "+series+w.sql(), w.args...)
	})
}

// blankColumns are what logstore.Blank does to the columns of attempts. Of extra, the
// text of a trace stays.
var blankColumns = fmt.Sprintf(`bytes_in = %d, metadata = '', end_user = '', span_id = '', cost_terms = '', bill_basis = '', charged = '', charged_at = NULL, charged_nano = 0, `+
	`extra = CASE WHEN contains(extra, '"trace_id":') THEN json_object('trace_id', json_extract_string(extra, '/trace_id'))::VARCHAR ELSE '' END`, isBlank)

// blankSeries makes the blank series of rows, and returns the expression that leads from
// the series of a row to it.
func (d *DB) blankSeries(ctx context.Context, tx *sql.Tx, of *where) (string, error) {
	var expr strings.Builder
	var fresh []*record.Attempt
	var ids []int32
	err := eachSeries(ctx, tx, "id IN (SELECT series FROM attempts"+of.sql()+")", of.args, func(id int32, a *record.Attempt) {
		logstore.Blank(a)
		to, isNew := d.series.number(a)
		if isNew {
			fresh, ids = append(fresh, a), append(ids, to)
		}
		if to != id {
			fmt.Fprintf(&expr, " WHEN %d THEN %d", id, to)
		}
	})
	if err != nil {
		return "", err
	}
	for i, a := range fresh {
		if err := insertSeries(ctx, tx, ids[i], a); err != nil {
			return "", err
		}
	}
	if expr.Len() == 0 {
		return "series", nil
	}
	return "CASE series" + expr.String() + " ELSE series END", nil
}

func insertSeries(ctx context.Context, tx *sql.Tx, id int32, a *record.Attempt) error {
	texts, flags := seriesOf(a)
	args := []any{id}
	for _, t := range texts {
		args = append(args, *t)
	}
	for _, f := range flags {
		args = append(args, *f)
	}
	_, err := exec(ctx, tx, "INSERT INTO series (id, "+seriesColumns+") VALUES ("+marks(len(args))+")", args...)
	return err
}
