package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"sluice/internal/resource"
)

// pageCursor is the last record of a page, and where the feed stood when the page was read.
// While it stands there the next page begins behind that record, so who reads one page
// after the other need not be led past all that were read before.
type pageCursor struct {
	id  string
	seq int64
}

// maxCursorPages is how many pages before one are looked at for a mark. Who reads several pages
// at a time asks for some before those that end where they begin were read.
const maxCursorPages = 50

// paged reads a page of a query: from the nearest mark before it where there is one that
// still holds.
func (r reads) paged(ctx context.Context, q resource.Query, limit int64) ([]recordRow, error) {
	if r.past == nil || q.After != "" {
		rows, _, err := r.pageAt(ctx, page(q, limit))
		return rows, err
	}
	keyAt := cursorKeys(q)
	if m, offset, known := r.nearest(keyAt, q.Offset, int(limit)); known {
		rest := q
		rest.Offset, rest.After = q.Offset-offset, m.id
		// Of no rows it is not known where the feed stood.
		if rows, seq, err := r.pageAt(ctx, page(rest, limit)); err != nil || len(rows) > 0 && seq == m.seq {
			r.markEnd(keyAt, q, rows, seq, limit)
			return rows, err
		}
	}
	rows, seq, err := r.pageAt(ctx, page(q, limit))
	r.markEnd(keyAt, q, rows, seq, limit)
	return rows, err
}

// cursorKeys gives the names under which the marks of a query are remembered, by offset.
func cursorKeys(q resource.Query) func(offset int) string {
	var s statement
	s.filter(q)
	query := fmt.Sprint(q.Newest, s)
	return func(offset int) string { return query + " " + strconv.Itoa(offset) }
}

// nearest is the last mark before a row, and how many rows lie before the mark.
func (r reads) nearest(keyAt func(int) string, row, limit int) (m pageCursor, offset int, known bool) {
	for offset = row; offset > max(0, row-maxCursorPages*limit); offset -= limit {
		if m, known = r.past.marks.find(keyAt(offset)); known {
			return m, offset, true
		}
	}
	return pageCursor{}, 0, false
}

// markEnd remembers the end of a page behind which there may be another.
func (r reads) markEnd(keyAt func(offset int) string, q resource.Query, rows []recordRow, seq, limit int64) {
	if int64(len(rows)) == limit {
		r.past.marks.put(keyAt(q.Offset+len(rows)), pageCursor{rows[len(rows)-1].ID, seq})
	}
}

// pageAt reads a page, and where the feed stands; 0 when the page is empty.
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
