package sqlstore

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/kernel/fault"
)

var _ audit.Store = (*Store)(nil)

// auditCheckpoint is a row of the table audit_checkpoints.
type auditCheckpoint struct {
	bun.BaseModel `bun:"table:audit_checkpoints,alias:c"`

	OrgID     string `bun:",pk"`
	Number    int64  `bun:",pk"`
	Seq       int64
	Hash      string
	AtMS      int64 `bun:"at_ms"`
	FirstSeq  int64
	Kept      int64
	KeyID     string
	Signature string
}

func (c *auditCheckpoint) checkpoint() audit.Checkpoint {
	return audit.Checkpoint{
		OrgID: c.OrgID, Number: c.Number, Seq: c.Seq, Hash: c.Hash, Timestamp: audit.Stamp(time.UnixMilli(c.AtMS)),
		First: c.FirstSeq, Count: c.Kept, KeyID: c.KeyID, Signature: c.Signature,
	}
}

// PutCheckpoint adds a checkpoint, and makes its First the first row of the trail. It returns
// Conflict if the number exists already or the checkpoint's row does not exist yet.
func (s *auditTable) PutCheckpoint(ctx context.Context, c audit.Checkpoint) error {
	stamped, err := time.Parse(time.RFC3339, c.Timestamp)
	if err != nil {
		return err
	}
	row := auditCheckpoint{
		OrgID: c.OrgID, Number: c.Number, Seq: c.Seq, Hash: c.Hash, AtMS: stamped.UnixMilli(), FirstSeq: c.First,
		Kept: c.Count, KeyID: c.KeyID, Signature: c.Signature,
	}
	return s.InTx(ctx, func(rtx resource.Tx) error {
		t := rtx.(*tx)
		return t.step(ctx, "add a checkpoint", func(ctx context.Context, db bun.IDB) error {
			head, err := t.head(ctx, c.OrgID)
			if err != nil {
				return err
			}
			if head.Checkpoint+1 != c.Number || c.Seq > head.Seq || c.First < head.FirstSeq {
				return fault.New(fault.Conflict, "another process wrote a checkpoint meanwhile")
			}
			head.Checkpoint, head.CheckpointSeq, head.CheckpointMS, head.FirstSeq = c.Number, c.Seq, stamped.UnixMilli(), c.First
			if err := t.all(ctx, head.advanced()); err != nil {
				return err
			}
			_, err = db.NewInsert().Model(&row).Exec(ctx)
			return err
		})
	})
}

// dropBatch is the maximum number of rows that one statement deletes.
const dropBatch = 1000

// PruneAudit deletes the rows before the first retained row of a trail, and the checkpoints
// before the last one that covers the retained rows.
func (s *auditTable) PruneAudit(ctx context.Context, orgID string) error {
	head, err := s.Head(ctx, orgID)
	if err != nil {
		return err
	}
	for {
		var minSeq int64
		err := s.runStep(ctx, "find expired audit rows", func(ctx context.Context) error {
			return s.db.NewSelect().Model((*auditRow)(nil)).ColumnExpr("COALESCE(MIN(a.seq), 0)").Where("a.org_id = ?", orgID).Scan(ctx, &minSeq)
		})
		if err != nil {
			return err
		}
		if minSeq == 0 || minSeq >= head.First {
			break
		}
		until := min(minSeq+dropBatch, head.First)
		n, err := s.exec(ctx, "delete expired audit rows", "DELETE FROM audit WHERE org_id = ? AND seq < ?", orgID, until)
		if err != nil {
			return err
		}
		if n == 0 {
			break // the reader lags and still returns deleted rows
		}
	}
	before, _, err := s.Around(ctx, orgID, head.First)
	if err != nil || before == nil {
		return err
	}
	_, err = s.exec(ctx, "delete expired checkpoints", "DELETE FROM audit_checkpoints WHERE org_id = ? AND seq < ?", orgID, before.Seq)
	return err
}
