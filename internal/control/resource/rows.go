package resource

import (
	"context"
	"iter"

	"sluice/internal/kernel/fault"
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

// EachPage calls f for the decoded records of a query, one page of its limit at a time.
func EachPage[T any](ctx context.Context, from Reader, q Query, f func(rows []*Row[T]) error) error {
	for {
		rows, err := ListRows[T](ctx, from, q)
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

// DrainPages calls do for the records that page returns, until page returns none. do must remove
// a record from the pages, for example archive it.
func DrainPages(page func() ([]Record, error), do func(Record) error) error {
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

// FindLive reads a record that is not archived. It returns fault.NotFound if there is none.
func FindLive[T any](ctx context.Context, from Reader, kind, id string) (*Row[T], error) {
	rec, err := from.Find(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	if rec.Status == Archived {
		return nil, fault.New(fault.NotFound, "")
	}
	return Decode[T](rec)
}

// ListRows returns the decoded records of a query.
func ListRows[T any](ctx context.Context, from Reader, q Query) ([]*Row[T], error) {
	recs, err := from.List(ctx, q)
	if err != nil {
		return nil, err
	}
	rows := make([]*Row[T], len(recs))
	for i, rec := range recs {
		if rows[i], err = Decode[T](rec); err != nil {
			return nil, err
		}
	}
	return rows, nil
}
