package store

import (
	"context"
	"sync"

	"github.com/uptrace/bun"

	"sluice/internal/resource"
)

// Limits of what is remembered of counts. A query that names many ids is quickly counted
// anyway.
const (
	maxTallies    = 1000
	maxTallyBytes = 4 << 10 // of a query
)

// feedAt is where the change feed stands: the counter that every transaction which
// inserts, updates or deletes raises as the last thing that it does.
const feedAt = "SELECT value FROM counters WHERE name = 'changes'"

// tallies remembers the counts of queries, each with where the feed stood in the moment
// of the count: while it stands there no record came, went or changed on any node, so the
// number is that which counting again would give. Safe for concurrent use.
type tallies struct {
	mu sync.Mutex // guards of
	of map[string]tally
}

type tally struct {
	N   int64 // of records
	Seq int64 // where the feed stood
}

func newTallies() *tallies { return &tallies{of: make(map[string]tally)} }

// at is the count of a query made where the feed stands.
func (t *tallies) at(query string, seq int64) (n int64, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, known := t.of[query]
	return last.N, known && last.Seq == seq
}

// keep remembers a count. When there are too many remembering begins anew.
func (t *tallies) keep(query string, now tally) {
	if len(query) > maxTallyBytes {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.of) >= maxTallies {
		clear(t.of)
	}
	t.of[query] = now
}

// Count returns how many records match; the fields that page are ignored.
func (r reads) Count(ctx context.Context, q resource.Query) (int, error) {
	var n int64
	err := r.within(ctx, "count "+q.Kind, func(ctx context.Context) (err error) {
		if r.tallies != nil {
			n, err = r.counted(ctx, q)
			return err
		}
		return r.count(q).Scan(ctx, &n)
	})
	return int(n), err
}

func (r reads) count(q resource.Query) *bun.SelectQuery {
	return filter(r.db.NewSelect().Model((*recordRow)(nil)).ColumnExpr("COUNT(*) AS n"), q)
}

// counted is a count that is remembered, or that is made and remembered. The count and
// the place in the feed are read by one statement, so they are of the same moment.
func (r reads) counted(ctx context.Context, q resource.Query) (int64, error) {
	sel := r.count(q)
	query := sel.String()
	var seq int64
	if err := r.db.NewRaw(feedAt).Scan(ctx, &seq); err != nil {
		return 0, err
	}
	if n, known := r.tallies.at(query, seq); known {
		return n, nil
	}
	var now tally
	if err := sel.ColumnExpr("("+feedAt+") AS seq").Scan(ctx, &now.N, &now.Seq); err != nil {
		return 0, err
	}
	r.tallies.keep(query, now)
	return now.N, nil
}
