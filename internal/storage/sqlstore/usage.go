package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
	"sluice/internal/limits/quota"
)

// usagePosition is a row of the table usage_positions: how far a node has counted the usage in
// its journal.
type usagePosition struct {
	bun.BaseModel `bun:"table:usage_positions,alias:p"`

	Node string `bun:",pk"`
	Seq  int64
}

// UsagePosition returns the number of the first entry in a node's journal that is not counted
// yet; 0 for a node that has counted nothing. It reads from the writer.
func (s *meterTable) UsagePosition(ctx context.Context, node string) (seq uint64, err error) {
	err = s.InTx(ctx, func(rtx resource.Tx) (err error) {
		seq, err = s.positionIn(ctx, rtx, node)
		return err
	})
	return seq, err
}

// UsageSeen returns a recent UsagePosition. It reads from the reader, which may lag.
func (s *meterTable) UsageSeen(ctx context.Context, node string) (seq uint64, err error) {
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

// positionIn reads the position of a node and locks it until the end of the transaction.
func (s *meterTable) positionIn(ctx context.Context, rtx resource.Tx, node string) (seq uint64, err error) {
	err = runInTx(ctx, rtx, "read the usage offset", func(ctx context.Context, db bun.IDB) error {
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

// CountUsage adds the usage of a node between two positions of its journal, and moves the node's
// position from the first to the second, in one transaction. So each entry counts exactly once,
// whatever fails in between. It returns the updated meters that the deltas name, with their
// names, their organisation, Used and the resets; other fields are empty. After an error that
// leaves it unknown whether the call was committed, make the same call again: it adds nothing if
// the position is at to. If the position is neither, it returns Conflict: another process counts
// for the same node. now has the same meaning as in AddUsageIn.
func (s *meterTable) CountUsage(ctx context.Context, node string, now time.Time, from, to uint64, deltas []quota.Delta) (after []quota.Meter, err error) {
	list, moved := ordered(deltas), false
	err = s.InTx(ctx, func(rtx resource.Tx) error {
		uses := usesOf(list)
		moved = false
		position, err := s.positionIn(ctx, rtx, node)
		switch {
		case err != nil:
			return err
		case position == to: // an earlier call was committed
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

// metersAfter returns the meters of the usage as they are in the transaction. It reads those
// whose rows are not known.
func (s *meterTable) metersAfter(ctx context.Context, rtx resource.Tx, uses []usageUpdate) ([]quota.Meter, error) {
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
	err := runInTx(ctx, rtx, "reload usage meters", func(ctx context.Context, db bun.IDB) error {
		return s.readUses(ctx, db, unknown, "")
	})
	for i := range unknown {
		if u := &unknown[i]; u.known {
			after = append(after, u.meter())
		}
	}
	return after, err
}

// moveUsage moves the position of a node, which positionIn locked. Two nodes that insert the
// first position at once conflict.
func (s *meterTable) moveUsage(ctx context.Context, rtx resource.Tx, node string, from, to uint64) error {
	return runInTx(ctx, rtx, "save the usage offset", func(ctx context.Context, db bun.IDB) error {
		if from == 0 {
			_, err := db.NewInsert().Model(&usagePosition{Node: node, Seq: int64(to)}).Exec(ctx)
			return err
		}
		_, err := db.NewUpdate().Table("usage_positions").Set("seq = ?", int64(to)).Where("node = ?", node).Exec(ctx)
		return err
	})
}
