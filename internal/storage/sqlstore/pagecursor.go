package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"sluice/internal/control/resource"
)

// pageCursor is the last record of a page, with the end of the feed when the page was read. While
// the feed does not grow, the next page begins after that record. So a caller that reads pages in
// order need not skip all earlier rows.
type pageCursor struct {
	id  string
	seq int64
}

// maxCursorPages is the maximum number of pages before a page that are searched for a mark. A
// caller that reads several pages at once requests some before the preceding pages are read.
const maxCursorPages = 50

// paged reads a page of a query. It starts at the nearest mark before the page, if there is one
// that is still valid.
func (r reads) paged(ctx context.Context, q resource.Query, limit int64) ([]recordRow, error) {
	if r.past == nil || q.After != "" {
		rows, _, err := r.pageAt(ctx, page(q, limit))
		return rows, err
	}
	keyAt := cursorKeys(q)
	if m, offset, known := r.nearest(keyAt, q.Offset, int(limit)); known {
		rest := q
		rest.Offset, rest.After = q.Offset-offset, m.id
		// Without rows the end of the feed is unknown.
		if rows, seq, err := r.pageAt(ctx, page(rest, limit)); err != nil || len(rows) > 0 && seq == m.seq {
			r.markEnd(keyAt, q, rows, seq, limit)
			return rows, err
		}
	}
	rows, seq, err := r.pageAt(ctx, page(q, limit))
	r.markEnd(keyAt, q, rows, seq, limit)
	return rows, err
}

// cursorKeys returns the keys under which the marks of a query are cached, by offset.
func cursorKeys(q resource.Query) func(offset int) string {
	var s statement
	s.filter(q)
	query := fmt.Sprint(q.Newest, s)
	return func(offset int) string { return query + " " + strconv.Itoa(offset) }
}

// nearest returns the last mark before a row, and the number of rows before the mark.
func (r reads) nearest(keyAt func(int) string, row, limit int) (m pageCursor, offset int, known bool) {
	for offset = row; offset > max(0, row-maxCursorPages*limit); offset -= limit {
		if m, known = r.past.marks.find(keyAt(offset)); known {
			return m, offset, true
		}
	}
	return pageCursor{}, 0, false
}

// markEnd caches the end of a page that another page may follow.
func (r reads) markEnd(keyAt func(offset int) string, q resource.Query, rows []recordRow, seq, limit int64) {
	if int64(len(rows)) == limit {
		r.past.marks.put(keyAt(q.Offset+len(rows)), pageCursor{rows[len(rows)-1].ID, seq})
	}
}

// pageAt reads a page and the end of the feed, which is 0 if the page is empty.
func (r reads) pageAt(ctx context.Context, s statement) (rows []recordRow, seq int64, err error) {
	var row recordRow
	targets := append(row.scanTargets(), &seq)
	err = r.ask(ctx, s, func(line *sql.Rows) error {
		err := line.Scan(targets...)
		rows = append(rows, row)
		return err
	})
	return rows, seq, err
}
