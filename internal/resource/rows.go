package resource

import (
	"context"
	"iter"
)

// Rows are the rows of a query that names its Limit, read atOnce at a time, so that no more
// bodies than that are held: each part lies behind the last row of the one before. An error
// of the store comes last, beside a row that is none.
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
