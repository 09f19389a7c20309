package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"sluice/internal/control/resource"
)

// newChange is a row of the table changes whose number the database computes.
type newChange struct {
	kind, id string
	deleted  bool
}

// change records a change of this transaction for the feed.
func (t *tx) change(kind, id string, deleted bool) {
	t.changes = append(t.changes, newChange{kind, id, deleted})
}

// changeChunk is the number of changes in one statement.
const changeChunk = 200

// published returns the statements that number the changes and add them to the feed. The update
// locks the counter's row until the commit, so a transaction with a higher number commits later.
// resource.Change promises that order. The statements come last, so they cannot be part of a
// deadlock.
func (t *tx) published() []statement {
	if len(t.changes) == 0 {
		return nil
	}
	statements := []statement{{"UPDATE counters SET value = value + ? WHERE name = 'changes'", []any{int64(len(t.changes))}}}
	following := len(t.changes) // distance of its number from the newest change
	for some := range slices.Chunk(t.changes, changeChunk) {
		var s statement
		for _, c := range some {
			following--
			s.add(", (("+feedAt+") - ?, ?, ?, ?)", int64(following), c.kind, c.id, bit(c.deleted))
		}
		s.text = "INSERT INTO changes (seq, kind, id, deleted) VALUES " + s.text[2:]
		statements = append(statements, s)
	}
	return statements
}

// Changes returns the changes after a sequence number, in order, at most limit rows. The limit is
// 1 to 1000; 0 means 100. On a replica the feed lags as far as the records do, so the two always
// match.
func (s *database) Changes(ctx context.Context, after int64, limit int) ([]resource.Change, error) {
	maxRows, err := pageSize(limit)
	if err != nil {
		return nil, err
	}
	var changes []resource.Change
	following := statement{"SELECT seq, kind, id, deleted FROM changes WHERE seq > ?", []any{after}}
	following.limit(" ORDER BY seq", maxRows)
	err = s.runStep(ctx, "read the change feed", func(ctx context.Context) error {
		changes = changes[:0]
		return s.ask(ctx, following, func(line *sql.Rows) error {
			var c resource.Change
			err := line.Scan(&c.Seq, &c.Kind, &c.ID, &c.Deleted)
			changes = append(changes, c)
			return err
		})
	})
	return changes, err
}

// LastChange returns the highest sequence number of the feed; 0 while it is empty.
func (s *database) LastChange(ctx context.Context) (int64, error) {
	var last int64
	err := s.runStep(ctx, "read the change feed", func(ctx context.Context) error {
		return s.askOne(ctx, statement{text: "SELECT COALESCE(MAX(seq), 0) FROM changes"}, &last)
	})
	return last, err
}
