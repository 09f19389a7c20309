package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/fault"
	"sluice/internal/quota"
	"sluice/internal/resource"
)

// usagePosition is a line of the table usage_positions: how far into its journal a node
// has counted what was used.
type usagePosition struct {
	bun.BaseModel `bun:"table:usage_positions,alias:p"`

	Node string `bun:",pk"`
	Seq  int64
}

// UsagePosition is the number of the first entry in the journal of a node that was not
// counted yet; 0 for a node that never counted. It asks the writer.
func (s *Store) UsagePosition(ctx context.Context, node string) (seq uint64, err error) {
	err = s.InTx(ctx, func(rtx resource.Tx) (err error) {
		seq, err = s.positionIn(ctx, rtx, node)
		return err
	})
	return seq, err
}

// UsageSeen is a UsagePosition that was true lately: it asks no writer, and what it asks
// may be behind.
func (s *Store) UsageSeen(ctx context.Context, node string) (seq uint64, err error) {
	r, _ := s.readsOf(nil)
	err = r.runStep(ctx, "read the usage offset", func(ctx context.Context) error {
		var row usagePosition
		err := r.db.NewSelect().Model(&row).Where("p.node = ?", node).Scan(ctx)
		if seq = uint64(row.Seq); errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return seq, err
}

// positionIn reads the position of a node and holds it until the end of the transaction.
func (s *Store) positionIn(ctx context.Context, rtx resource.Tx, node string) (seq uint64, err error) {
	err = s.onMeters(ctx, rtx, "read the usage offset", func(ctx context.Context, db bun.IDB) error {
		var row usagePosition
		sel := db.NewSelect().Model(&row).Where("p.node = ?", node)
		if s.engine.lock != "" {
			sel = sel.For(s.engine.lock)
		}
		err := sel.Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		seq = uint64(row.Seq)
		return err
	})
	return seq, err
}

// CountUsage adds what a node used between two positions of its journal and moves its
// position from one to the other, which lies behind it, in one transaction: so each entry
// counts exactly once, whatever fails in between. It returns the meters that the deltas
// name, as they are then: their names, their organisation, Used and the resets; the rest is
// empty. After an error of which it is not known whether the call was kept, the same call is
// made again: it adds nothing when it finds the position at to.
// Conflict when the position is neither: another process counts for the same node. now is
// as AddUsageIn takes it.
func (s *Store) CountUsage(ctx context.Context, node string, now time.Time, from, to uint64, deltas []quota.Delta) (after []quota.Meter, err error) {
	list, moved := ordered(deltas), false
	err = s.InTx(ctx, func(rtx resource.Tx) error {
		uses := usesOf(list)
		moved = false
		position, err := s.positionIn(ctx, rtx, node)
		switch {
		case err != nil:
			return err
		case position == to: // an earlier call was kept
		case position != from:
			return fault.Newf(fault.Conflict, "another process has already counted the usage of node %s", node)
		default:
			if err := s.moveUsage(ctx, rtx, node, from, to); err != nil {
				return err
			}
			if err := s.addUsage(ctx, rtx, now, uses); err != nil {
				return err
			}
			moved = true
		}
		after, err = s.metersAfter(ctx, rtx, uses)
		return err
	})
	if err != nil {
		return nil, err
	}
	if moved {
		s.recordWriteBlock("", nil)
	}
	return after, nil
}

// metersAfter are the meters that usage went to, as they are in the transaction: read, where
// it is not known that they have a row or what that is.
func (s *Store) metersAfter(ctx context.Context, rtx resource.Tx, uses []usageUpdate) ([]quota.Meter, error) {
	after := make([]quota.Meter, 0, len(uses))
	var unknown []usageUpdate
	for i := range uses {
		if u := &uses[i]; u.known {
			after = append(after, u.meter())
		} else {
			unknown = append(unknown, usageUpdate{Delta: u.Delta})
		}
	}
	if len(unknown) == 0 {
		return after, nil
	}
	err := s.onMeters(ctx, rtx, "reload usage meters", func(ctx context.Context, db bun.IDB) error {
		return s.readUses(ctx, db, unknown, "")
	})
	for i := range unknown {
		if u := &unknown[i]; u.known {
			after = append(after, u.meter())
		}
	}
	return after, err
}

// moveUsage moves the position of a node, which positionIn holds. Two that begin at once
// clash.
func (s *Store) moveUsage(ctx context.Context, rtx resource.Tx, node string, from, to uint64) error {
	return s.onMeters(ctx, rtx, "save the usage offset", func(ctx context.Context, db bun.IDB) error {
		if from == 0 {
			_, err := db.NewInsert().Model(&usagePosition{Node: node, Seq: int64(to)}).Exec(ctx)
			return err
		}
		_, err := db.NewUpdate().Table("usage_positions").Set("seq = ?", int64(to)).Where("node = ?", node).Exec(ctx)
		return err
	})
}
