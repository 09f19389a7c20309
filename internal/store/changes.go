package store

import (
	"context"

	"github.com/uptrace/bun"

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

// change notes a change of this transaction for the feed.
func (t *tx) change(kind, id string, deleted bool) {
	row := changeRow{Kind: kind, ID: id}
	if deleted {
		row.Deleted = 1
	}
	t.changes = append(t.changes, row)
}

// publish numbers the changes and adds them to the feed, as the last thing before
// the commit. The update holds the counter's row until then, so whoever gets the
// next number commits later: that is the order which resource.Change promises.
// Coming last it also cannot be part of a deadlock.
func (t *tx) publish(ctx context.Context) error {
	if len(t.changes) == 0 {
		return nil
	}
	return t.step(ctx, "add to the change feed", func(ctx context.Context, db bun.IDB) error {
		if _, err := db.ExecContext(ctx, "UPDATE counters SET value = value + ? WHERE name = 'changes'", len(t.changes)); err != nil {
			return err
		}
		var last int64
		if err := db.NewSelect().Table("counters").Column("value").Where("name = 'changes'").Scan(ctx, &last); err != nil {
			return err
		}
		for i := range t.changes {
			t.changes[i].Seq = last - int64(len(t.changes)-1-i)
		}
		_, err := db.NewInsert().Model(&t.changes).Exec(ctx)
		return err
	})
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
