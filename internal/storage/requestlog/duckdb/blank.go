package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
)

// Blank implements requestlog.RowStore.
func (d *retention) Blank(ctx context.Context, due requestlog.RetentionCutoffs) (int64, error) {
	n, err := eachWave(due, func(wave requestlog.RetentionBatch) (int64, error) { return d.blankPart(ctx, wave) })
	if err != nil {
		return 0, fmt.Errorf("blank log rows: %w", err)
	}
	return n, nil
}

func (d *retention) blankPart(ctx context.Context, wave requestlog.RetentionBatch) (int64, error) {
	w, window, there, err := d.part(ctx, wave, isShown)
	if err != nil || !there {
		return 0, err
	}
	return d.change(ctx, window, func(tx *sql.Tx) (int64, error) {
		if err := deleteTrail(ctx, tx, &w); err != nil {
			return 0, err
		}
		series, err := d.blankSeries(ctx, tx, &w)
		if err != nil {
			return 0, err
		}
		return exec(ctx, tx, "UPDATE attempts SET "+blankColumns+", series = other.id FROM (VALUES "+series+") AS other(was, id)"+w.sql()+" AND series = other.was", w.args...)
	})
}

// blankColumns applies requestlog.Blank to the columns of attempts. The text of a trace in extra
// remains.
var blankColumns = fmt.Sprintf(`bytes_in = %d, metadata = '', end_user = '', span_id = '', cost_terms = '', bill_basis = '', charged = '', charged_at = NULL, charged_nano = 0, `+
	`extra = CASE WHEN contains(extra, '"trace_id":') THEN json_object('trace_id', json_extract_string(extra, '/trace_id'))::VARCHAR ELSE '' END`, isBlank)

// blankSeries creates the blank series of rows. It returns SQL values that map each series of a
// row to its blank one: "(17, 204), (18, 204)".
func (d *retention) blankSeries(ctx context.Context, tx *sql.Tx, rows *where) (string, error) {
	var pairs []string
	var fresh []*record.Attempt
	var ids []int32
	err := eachSeries(ctx, tx, "id IN (SELECT series FROM attempts"+rows.sql()+")", rows.args, func(id int32, a *record.Attempt) {
		requestlog.Blank(a)
		to, isNew := d.series.number(a)
		if isNew {
			fresh, ids = append(fresh, a), append(ids, to)
		}
		pairs = append(pairs, fmt.Sprintf("(%d, %d)", id, to))
	})
	if err != nil {
		return "", err
	}
	return strings.Join(pairs, ", "), insertSeries(ctx, tx, ids, fresh)
}

// seriesAtOnce is the number of series that one statement inserts.
const seriesAtOnce = 100

func insertSeries(ctx context.Context, tx *sql.Tx, ids []int32, series []*record.Attempt) error {
	for len(ids) > 0 {
		n := min(len(ids), seriesAtOnce)
		var rows []string
		var args []any
		for i, a := range series[:n] {
			texts, flags := seriesOf(a)
			args = append(args, ids[i])
			for _, t := range texts {
				args = append(args, *t)
			}
			for _, f := range flags {
				args = append(args, *f)
			}
			rows = append(rows, "("+marks(1+len(texts)+len(flags))+")")
		}
		if _, err := exec(ctx, tx, "INSERT INTO series (id, "+seriesColumns+") VALUES "+strings.Join(rows, ", "), args...); err != nil {
			return err
		}
		ids, series = ids[n:], series[n:]
	}
	return nil
}
