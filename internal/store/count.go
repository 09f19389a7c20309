package store

import (
	"context"

	"sluice/internal/resource"
)

// feedAt is where the change feed stands: the counter that every transaction which
// inserts, updates or deletes raises as the last thing that it does.
const feedAt = "SELECT value FROM counters WHERE name = 'changes'"

// tally is a count of a query, and where the feed stood in the moment of the count: while
// it stands there no record came, went or changed on any node, so the number is that which
// counting again would give.
type tally struct {
	n   int64 // of records
	seq int64 // where the feed stood
}

// Count returns how many records match; the fields that page are ignored.
func (r reads) Count(ctx context.Context, q resource.Query) (int, error) {
	var n int64
	err := r.runStep(ctx, "count "+q.Kind, func(ctx context.Context) (err error) {
		if r.past != nil {
			n, err = r.counted(ctx, q)
			return err
		}
		return r.askOne(ctx, count(q, "COUNT(*)"), &n)
	})
	return int(n), err
}

// count selects figures of the records of a query.
func count(q resource.Query, columns string) statement {
	s := statement{text: "SELECT " + columns + " FROM records AS r"}
	s.filter(q)
	return s
}

// counted is a count that is remembered, or that is made and remembered. The count and
// the place in the feed are read by one statement, so they are of the same moment.
func (r reads) counted(ctx context.Context, q resource.Query) (int64, error) {
	sel := count(q, "COUNT(*), ("+feedAt+")")
	query := sel.String()
	var seq int64
	if err := r.askOne(ctx, statement{text: feedAt}, &seq); err != nil {
		return 0, err
	}
	if t, known := r.past.tallies.find(query); known && t.seq == seq {
		return t.n, nil
	}
	var now tally
	if err := r.askOne(ctx, sel, &now.n, &now.seq); err != nil {
		return 0, err
	}
	r.past.tallies.put(query, now)
	return now.n, nil
}
