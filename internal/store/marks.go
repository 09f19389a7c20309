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

// marksBack is how many pages before one are looked at for a mark. Who reads several pages
// at a time asks for some before those that end where they begin were read.
const marksBack = 50

// paged reads a page of a query: from the nearest mark before it where there is one that
// still holds.
func (r reads) paged(ctx context.Context, q resource.Query, limit int64) ([]recordRow, error) {
	if r.past == nil || q.After != "" {
		rows, _, err := r.pageAt(ctx, page(q, limit))
		return rows, err
	}
	at := placesOf(q)
	if m, offset, known := r.nearest(at, q.Offset, int(limit)); known {
		behind := q
		behind.Offset, behind.After = q.Offset-offset, m.id
		// Of no rows it is not known where the feed stood.
		if rows, seq, err := r.pageAt(ctx, page(behind, limit)); err != nil || len(rows) > 0 && seq == m.seq {
			r.markEnd(at, q, rows, seq, limit)
			return rows, err
		}
	}
	rows, seq, err := r.pageAt(ctx, page(q, limit))
	r.markEnd(at, q, rows, seq, limit)
	return rows, err
}

// placesOf gives the names under which the marks of a query are remembered, by offset.
func placesOf(q resource.Query) func(offset int) string {
	var s statement
	s.filter(q)
	query := fmt.Sprint(q.Newest, s)
	return func(offset int) string { return query + " " + strconv.Itoa(offset) }
}

// nearest is the last mark before a row, and how many rows lie before the mark.
func (r reads) nearest(at func(int) string, row, limit int) (m pageCursor, offset int, known bool) {
	for offset = row; offset > max(0, row-marksBack*limit); offset -= limit {
		if m, known = r.past.marks.at(at(offset)); known {
			return m, offset, true
		}
	}
	return pageCursor{}, 0, false
}

// markEnd remembers the end of a page behind which there may be another.
func (r reads) markEnd(at func(offset int) string, q resource.Query, rows []recordRow, seq, limit int64) {
	if int64(len(rows)) == limit {
		r.past.marks.keep(at(q.Offset+len(rows)), pageCursor{rows[len(rows)-1].ID, seq})
	}
}

// pageAt reads a page, and where the feed stands; 0 when the page is empty.
func (r reads) pageAt(ctx context.Context, s statement) (rows []recordRow, seq int64, err error) {
	var row recordRow
	places := append(row.places(), &seq)
	err = r.ask(ctx, s, func(line *sql.Rows) error {
		err := line.Scan(places...)
		rows = append(rows, row)
		return err
	})
	return rows, seq, err
}
