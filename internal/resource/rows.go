package resource

import (
	"context"
	"iter"
)

// Rows returns the rows of a query that sets its Limit. It reads them in parts of atOnce rows,
// so that memory never holds more bodies than that. Each part starts after the last row of the
// previous one. If the store fails, the last pair has the error and an empty row.
func Rows(ctx context.Context, from Reader, q Query, atOnce int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		part := q
		for left := q.Limit; left > 0; left -= part.Limit {
			part.Limit = min(left, atOnce)
			rows, err := from.List(ctx, part)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			if len(rows) < part.Limit {
				return
			}
			part.After, part.Offset = rows[len(rows)-1].ID, 0
		}
	}
}
