package sqlstore

import (
	"context"

	"sluice/internal/control/resource"
)

// feedAt selects the end of the change feed: the counter that every transaction which inserts,
// updates or deletes increments as its last step.
const feedAt = "SELECT value FROM counters WHERE name = 'changes'"

// tally is a count of a query, with the end of the feed at the moment of the count. While the
// feed does not grow, no node has changed a record, so a new count would give the same number.
type tally struct {
	n   int64 // number of records
	seq int64 // end of the feed
}

// Count returns how many records match. It ignores the paging fields.
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

// count selects aggregate values of the records of a query.
func count(q resource.Query, columns string) statement {
	s := statement{text: "SELECT " + columns + " FROM records AS r"}
	s.filter(q)
	return s
}

// counted returns a cached count, or counts and caches the result. One statement reads the count
// and the end of the feed, so both are of the same moment.
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
