package admin

import (
	"context"

	"sluice/internal/resource"
)

// eachPage calls f for the records of a query, decoded, a page of its limit at a time.
func eachPage[T any](ctx context.Context, from resource.Reader, q resource.Query, f func(rows []*resource.Row[T]) error) error {
	for {
		rows, err := rowsOf[T](ctx, from, q)
		if err != nil {
			return err
		}
		if err := f(rows); err != nil {
			return err
		}
		if len(rows) < q.Limit {
			return nil
		}
		q.After = rows[len(rows)-1].ID
	}
}

// drainPages does something with the records that page returns after which it returns them
// no more, such as archiving them, until it returns none.
func drainPages(page func() ([]resource.Record, error), do func(resource.Record) error) error {
	for {
		rows, err := page()
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			if err := do(r); err != nil {
				return err
			}
		}
	}
}
