package admin

import (
	"context"

	"sluice/internal/resource"
)

// eachPage calls f for the decoded records of a query, one page of its limit at a time.
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

// drainPages calls do for the records that page returns, until page returns none. do must remove
// a record from the pages, for example archive it.
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
