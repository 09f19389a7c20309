package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"sluice/internal/resource"
)

// changeRow is a line of the table changes.
type changeRow struct {
	bun.BaseModel `bun:"table:changes,alias:c"`

	Seq     int64 `bun:",pk"`
	Kind    string
	ID      string
	Deleted int16
}

// newChange is a changeRow whose number the database works out.
type newChange struct {
	bun.BaseModel `bun:"table:changes"`

	Seq     behind
	Kind    string
	ID      string
	Deleted int16
}

// behind is a sequence number: that of the newest change less so many.
type behind int

// AppendQuery writes it as an expression.
func (n behind) AppendQuery(_ schema.QueryGen, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "(%s) - %d", feedAt, int(n)), nil
}

// change notes a change of this transaction for the feed.
func (t *tx) change(kind, id string, deleted bool) {
	row := newChange{Kind: kind, ID: id}
	if deleted {
		row.Deleted = 1
	}
	t.changes = append(t.changes, row)
}

// changeChunk is how many changes go into one statement.
const changeChunk = 200

// published are the statements that number the changes and add them to the feed. The
// update holds the counter's row until the commit, so whoever gets the next number
// commits later: that is the order which resource.Change promises. Coming last it also
// cannot be part of a deadlock.
func (t *tx) published() []string {
	if len(t.changes) == 0 {
		return nil
	}
	statements := []string{t.db.NewRaw("UPDATE counters SET value = value + ? WHERE name = 'changes'", len(t.changes)).String()}
	for i := range t.changes {
		t.changes[i].Seq = behind(len(t.changes) - 1 - i)
	}
	for some := range slices.Chunk(t.changes, changeChunk) {
		statements = append(statements, t.db.NewInsert().Model(&some).String())
	}
	return statements
}

// Changes returns what comes behind a sequence number, in order, at most limit
// lines of 1 to 1000; 0 means 100. On a reader that is a replica the feed is as
// far behind as the records are, so the two always fit.
func (s *Store) Changes(ctx context.Context, after int64, limit int) ([]resource.Change, error) {
	rowsWanted, err := pageSize(limit)
	if err != nil {
		return nil, err
	}
	var rows []changeRow
	err = s.within(ctx, "read the change feed", func(ctx context.Context) error {
		return s.db.NewSelect().Model(&rows).Where("c.seq > ?", after).Order("c.seq").Limit(rowsWanted).Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	changes := make([]resource.Change, len(rows))
	for i, row := range rows {
		changes[i] = resource.Change{Seq: row.Seq, Kind: row.Kind, ID: row.ID, Deleted: row.Deleted != 0}
	}
	return changes, nil
}

// LastChange returns the highest sequence number of the feed, 0 while it is empty.
func (s *Store) LastChange(ctx context.Context) (int64, error) {
	var last int64
	err := s.within(ctx, "read the change feed", func(ctx context.Context) error {
		return s.db.NewSelect().Model((*changeRow)(nil)).ColumnExpr("COALESCE(MAX(c.seq), 0)").Scan(ctx, &last)
	})
	return last, err
}
