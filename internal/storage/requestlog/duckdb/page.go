package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
)

// How a page is searched.
const (
	firstSlice = 20_000 // rows of the first time slice that is searched
	nextSlice  = 6      // growth factor of each further slice
	deepOffset = 10_000 // rows to skip above which all time is searched at once
)

// reading runs f in a read-only transaction, on a thread that yields to others.
func (d *database) reading(ctx context.Context, f func(*sql.Tx) error) error {
	if err := d.reopen(ctx); err != nil {
		return fmt.Errorf("read log rows: %w", err)
	}
	return refusal(atLowPriority(func() error {
		tx, err := d.sql.BeginTx(ctx, &sql.TxOptions{})
		if err != nil {
			return fmt.Errorf("read log rows: %w", err)
		}
		defer func() { _ = tx.Rollback() }() // it was only read
		return f(tx)
	}))
}

// count returns the number of rows that a query selects, from rollups where possible. Blank rows
// count in rollups but are not shown; excluding them costs more than counting them separately.
func (d *queries) count(ctx context.Context, tx *sql.Tx, q record.Query) (n int64, err error) {
	all := timed(q)
	if !q.Weighted.Open() { // few rows have feedback
		all.others.add(isShown)
		return d.countAll(ctx, tx, q, all)
	}
	if n, err = d.countAll(ctx, tx, q, all); err != nil {
		return 0, err
	}
	blank := timed(q)
	blank.others.add("NOT " + isShown)
	var hidden int64
	err = tx.QueryRowContext(ctx, "SELECT count(*)"+blank.sql(), blank.args()...).Scan(&hidden)
	return n - hidden, err
}

// countAll works like count but includes blank rows.
func (d *queries) countAll(ctx context.Context, tx *sql.Tx, q record.Query, src *source) (n int64, err error) {
	var has map[bucket]rollupKind
	if !q.ByArrival {
		if has, err = d.usable(ctx, tx, spanOf(q.From, q.To)); err != nil {
			return 0, err
		}
	}
	countQuestion := newQuestion(&record.Analysis{Query: q}, has)
	if !q.Weighted.Open() && !q.ByArrival {
		if countQuestion.pending, err = isPending(ctx, tx); err != nil {
			return 0, err
		}
		if c := countQuestion.feedbackCover(); c.hasBuckets() {
			return countJudged(ctx, tx, countQuestion, c, src)
		}
	}
	if countQuestion.route.kind == 0 {
		err = tx.QueryRowContext(ctx, "SELECT count(*)"+src.sql(), src.args()...).Scan(&n)
		return n, err
	}
	page, err := runQuestion(ctx, tx, countQuestion)
	if err != nil {
		return 0, err
	}
	return page.Rows[0].Requests, nil
}

// countJudged returns the number of rows that a query selects which requires feedback.
func countJudged(ctx context.Context, tx *sql.Tx, q *question, c *bucketCover, src *source) (int64, error) {
	w := src.feedbackConditions()
	parts := []string{"SELECT count(*) AS n" + src.fromTable(storedFeedback(q.pending, c, q.feedbackCondition())) + w.sql()}
	args := slices.Concat(src.series.args, w.args)
	if fresh := q.uncoveredParts(c); fresh.any() {
		w := src.rows(fresh.among())
		parts = append(parts, "SELECT count(*) AS n"+src.fromTable(fresh.from())+w.sql())
		args = slices.Concat(args, src.series.args, w.args)
	}
	var n int64
	err := tx.QueryRowContext(ctx, "SELECT sum(n)::BIGINT FROM ("+strings.Join(parts, " UNION ALL ")+")", args...).Scan(&n)
	return n, err
}

// page reads the rows of a page, and the start of the next one.
func (d *queries) page(ctx context.Context, tx *sql.Tx, q record.Query, src *source) ([]stored, record.Cursor, error) {
	if err := src.others.after(q); err != nil {
		return nil, "", err
	}
	order := " ORDER BY " + requestlog.ListOrder(&q)
	size := q.PageSize()
	ids, window, err := d.findRowIDs(ctx, tx, q, src, order)
	if err != nil || len(ids) == 0 {
		return nil, "", err
	}
	// Rows are wide. Finding and sorting them needs few columns, so the other columns are read
	// only for the rows on the page.
	rows, err := readRows(ctx, tx, fmt.Sprintf(" FROM attempts WHERE rowid IN (%s) AND %s%s", strings.Join(ids, ", "), window.condition("started"), order), nil)
	if err != nil || len(rows) <= size { // an additional row means that there is a next page
		return rows, "", err
	}
	rows = rows[:size]
	last := &rows[size-1]
	if q.ByArrival {
		return rows, record.CursorAt(last.arrived, last.ID), nil
	}
	return rows, record.CursorAt(last.Started, last.ID), nil
}

// findRowIDs returns the row numbers of a page and of one more row, and the time range in which
// the rows started. It searches slices of time, in the order of the page, until it has enough
// rows.
func (d *queries) findRowIDs(ctx context.Context, tx *sql.Tx, q record.Query, src *source, order string) (ids []string, window span, err error) {
	windows, err := d.slicesOf(ctx, tx, q)
	if err != nil {
		return nil, window, err
	}
	skip := max(q.Offset, 0)
	needed := q.PageSize() + 1 + skip
	window = span{never, ever}
	for i, slice := range windows {
		var among []string
		if i < len(windows)-1 { // the last one may be nearly all time
			among = append(among, "trace_id IN (SELECT trace_id FROM attempts WHERE "+slice.condition("started")+")")
		}
		w := src.rows(among...)
		w.add(slice.condition("started"))
		rows, err := tx.QueryContext(ctx, "SELECT attempts.rowid, epoch_us(started)"+src.from()+w.sql()+order+" LIMIT ?", append(slices.Concat(src.series.args, w.args), needed)...)
		if err != nil {
			return nil, window, fmt.Errorf("find log rows: %w", err)
		}
		if err := each(rows, func() error {
			var id, started int64
			err := rows.Scan(&id, &started)
			if needed--; skip > 0 {
				skip--
				return err
			}
			ids = append(ids, fmt.Sprint(id))
			window = span{min(window.from, started), max(window.to, started+1)}
			return err
		}); err != nil {
			return nil, window, fmt.Errorf("find log rows: %w", err)
		}
		if needed <= 0 {
			break
		}
	}
	return ids, window, nil
}

// slicesOf divides the time of a query into slices, starting with the one where its page begins.
// Each has a multiple of the rows of the previous one, as estimated from slots.
func (d *queries) slicesOf(ctx context.Context, tx *sql.Tx, q record.Query) (out []span, err error) {
	period := spanOf(q.From, q.To)
	if q.ByArrival || q.Offset > deepOffset {
		return []span{period}, nil
	}
	if q.After != "" {
		started, _, err := q.After.Split()
		if err != nil {
			return nil, err
		}
		if q.Newest {
			period.to = min(period.to, started.UnixMicro()+1)
		} else {
			period.from = max(period.from, started.UnixMicro())
		}
	}
	type hour struct{ start, rows int64 }
	var hours []hour
	if err := eachSlot(ctx, tx, fmt.Sprintf("level = %d AND %s", byHours, period.condition("start")), func(s bucket, _ rollupKind, n int64) { hours = append(hours, hour{s.start, n}) }); err != nil {
		return nil, err
	}
	slices.SortFunc(hours, func(a, b hour) int {
		if a.start < b.start == q.Newest {
			return 1
		}
		return -1
	})
	rows, limit, rest := int64(0), int64(firstSlice), period
	for _, h := range hours {
		if rows += h.rows; rows < limit {
			continue
		}
		cut := h.start
		if !q.Newest {
			cut = bucket{byHours, h.start}.end()
		}
		if cut <= rest.from || cut >= rest.to {
			continue
		}
		if q.Newest {
			out, rest = append(out, span{cut, rest.to}), span{rest.from, cut}
		} else {
			out, rest = append(out, span{rest.from, cut}), span{cut, rest.to}
		}
		rows, limit = 0, limit*nextSlice
	}
	return append(out, rest), nil
}
