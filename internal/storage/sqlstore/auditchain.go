package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
)

// auditHead is a row of the table audit_heads. Every transaction that adds to the trail of an
// organisation locks it, so that rows are added one after the other.
type auditHead struct {
	bun.BaseModel `bun:"table:audit_heads,alias:h"`

	OrgID         string `bun:",pk"`
	Seq           int64
	Hash          string
	FirstSeq      int64
	Checkpoint    int64 // number of the last checkpoint
	CheckpointSeq int64
	CheckpointMS  int64 `bun:"checkpoint_ms"`
}

// findHead selects all columns of a head except its organisation.
const findHead = "SELECT seq, hash, first_seq, checkpoint, checkpoint_seq, checkpoint_ms FROM audit_heads WHERE org_id = ?"

// auditChunk is the number of audit rows in one statement.
const auditChunk = 200

// chain locks the trails that get audit rows of this transaction and returns the statements that
// add them. A transaction that holds the head of a trail waits only for the change feed, and
// heads are locked in one order. So no deadlock can occur.
func (t *tx) chain(ctx context.Context) (statements []statement, err error) {
	slices.SortStableFunc(t.audits, func(a, b auditRow) int { return strings.Compare(a.OrgID, b.OrgID) })
	var head *auditHead
	for i := range t.audits {
		row := &t.audits[i]
		if head == nil || head.OrgID != row.OrgID {
			if head, err = t.head(ctx, row.OrgID); err != nil {
				return nil, err
			}
		}
		head.link(row)
		if i+1 == len(t.audits) || t.audits[i+1].OrgID != row.OrgID {
			statements = append(statements, head.advanced())
		}
	}
	for some := range slices.Chunk(t.audits, auditChunk) {
		rows := make([][]any, len(some))
		for i := range some {
			rows[i] = some[i].values()
		}
		statements = append(statements, inserted("audit", auditColumns, rows...))
	}
	return statements, nil
}

// head locks the head of a trail until the end of the transaction. It creates a missing head
// first.
func (t *tx) head(ctx context.Context, orgID string) (*auditHead, error) {
	head := &auditHead{OrgID: orgID}
	find := t.held(statement{findHead, []any{orgID}})
	locked := func() error {
		return t.askOne(ctx, find, &head.Seq, &head.Hash, &head.FirstSeq, &head.Checkpoint, &head.CheckpointSeq, &head.CheckpointMS)
	}
	err := locked()
	if !errors.Is(err, sql.ErrNoRows) {
		return head, err
	}
	// An INSERT that ignored another node's row would only share its lock.
	_, err = t.db.ExecContext(ctx, "INSERT INTO audit_heads (org_id, seq, hash, first_seq, checkpoint, checkpoint_seq, checkpoint_ms) VALUES (?, 0, ?, 1, 0, 0, 0) "+
		t.engine.onConflict("org_id")+" seq = audit_heads.seq", orgID, audit.Genesis)
	if err != nil {
		return nil, err
	}
	return head, locked()
}

// link appends a row to the trail.
func (h *auditHead) link(r *auditRow) {
	row := r.chained()
	row.Chain(h.Seq, h.Hash)
	r.Seq, r.Prev, r.Hash = sql.NullInt64{Int64: row.Seq, Valid: true}, row.Prev, row.Hash
	h.Seq, h.Hash = row.Seq, row.Hash
}

// advanced returns the statement that stores the new end of the trail.
func (h *auditHead) advanced() statement {
	return statement{
		"UPDATE audit_heads SET seq = ?, hash = ?, first_seq = ?, checkpoint = ?, checkpoint_seq = ?, checkpoint_ms = ? WHERE org_id = ?",
		[]any{h.Seq, h.Hash, h.FirstSeq, h.Checkpoint, h.CheckpointSeq, h.CheckpointMS, h.OrgID},
	}
}

// chainOld adds the rows that are older than the chain to it, oldest first. Each batch is a
// separate transaction, so an interrupted run continues where it stopped.
func (s *auditTable) chainOld(ctx context.Context) error {
	for {
		n := 0
		err := s.InTx(ctx, func(rtx resource.Tx) (err error) {
			n, err = rtx.(*tx).chainBatch(ctx)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

const (
	unchained      = "a.seq IS NULL"
	chainBatchRows = 200
)

func (t *tx) chainBatch(ctx context.Context) (int, error) {
	var rows []auditRow
	err := t.step(ctx, "chain old audit rows", func(ctx context.Context, db bun.IDB) error {
		err := db.NewSelect().Model(&rows).Where(unchained).Order("a.org_id", "a.id").Limit(chainBatchRows).Scan(ctx)
		if err != nil {
			return err
		}
		var head *auditHead
		for i := range rows {
			r := &rows[i]
			if head == nil || head.OrgID != r.OrgID {
				if err := t.saveHead(ctx, head); err != nil {
					return err
				}
				if head, err = t.head(ctx, r.OrgID); err != nil {
					return err
				}
			}
			head.link(r)
			if _, err := db.NewUpdate().Model(r).Column("seq", "prev", "hash").WherePK().Exec(ctx); err != nil {
				return err
			}
		}
		return t.saveHead(ctx, head)
	})
	return len(rows), err
}

func (t *tx) saveHead(ctx context.Context, h *auditHead) error {
	if h == nil {
		return nil
	}
	return t.all(ctx, h.advanced())
}
