package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"sluice/internal/audit"
	"sluice/internal/resource"
)

// auditHead is the line of the table audit_heads that all who add to the trail of an
// organisation lock, so that its rows come one after the other.
type auditHead struct {
	bun.BaseModel `bun:"table:audit_heads,alias:h"`

	OrgID         string `bun:",pk"`
	Seq           int64
	Hash          string
	FirstSeq      int64
	Checkpoint    int64 // number of the last one
	CheckpointSeq int64
	CheckpointMS  int64 `bun:"checkpoint_ms"`
}

// chain locks the trails that get audit rows of this transaction and returns the
// statements that add them. Whoever holds the head of a trail waits for nothing any more
// but the change feed, and heads are taken in one order: no deadlock can come of it.
func (t *tx) chain(ctx context.Context) ([]string, error) {
	if len(t.audits) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(t.audits, func(a, b auditRow) int { return strings.Compare(a.OrgID, b.OrgID) })
	var statements []string
	var head *auditHead
	for i := range t.audits {
		row := &t.audits[i]
		if head == nil || head.OrgID != row.OrgID {
			var err error
			if head, err = t.head(ctx, row.OrgID); err != nil {
				return nil, err
			}
		}
		head.link(row)
		if i+1 == len(t.audits) || t.audits[i+1].OrgID != row.OrgID {
			statements = append(statements, t.advanced(head))
		}
	}
	return append(statements, t.db.NewInsert().Model(&t.audits).String()), nil
}

// head locks the head of a trail until the end of the transaction, making it first
// where there is none.
func (t *tx) head(ctx context.Context, orgID string) (*auditHead, error) {
	head := new(auditHead)
	locked := func() error {
		sel := t.db.NewSelect().Model(head).Where("h.org_id = ?", orgID)
		if t.engine.lock != "" {
			sel = sel.For(t.engine.lock)
		}
		return sel.Scan(ctx)
	}
	err := locked()
	if !errors.Is(err, sql.ErrNoRows) {
		return head, err
	}
	// An INSERT that only ignored the row of another node would share its lock.
	_, err = t.db.ExecContext(ctx, "INSERT INTO audit_heads (org_id, seq, hash, first_seq, checkpoint, checkpoint_seq, checkpoint_ms) VALUES (?, 0, ?, 1, 0, 0, 0) "+
		t.engine.onClash("org_id")+" seq = audit_heads.seq", orgID, audit.Genesis)
	if err != nil {
		return nil, err
	}
	return head, locked()
}

// link puts a row at the end of the trail.
func (h *auditHead) link(r *auditRow) {
	row := r.chained()
	row.Chain(h.Seq, h.Hash)
	r.Seq, r.Prev, r.Hash = sql.NullInt64{Int64: row.Seq, Valid: true}, row.Prev, row.Hash
	h.Seq, h.Hash = row.Seq, row.Hash
}

// advance keeps where the trail now stands.
func (t *tx) advance(ctx context.Context, h *auditHead) error {
	return t.all(ctx, []string{t.advanced(h)})
}

func (t *tx) advanced(h *auditHead) string { return t.db.NewUpdate().Model(h).WherePK().String() }

// chainOld chains the rows that were written before there was a chain, oldest first.
// Each batch is a transaction of its own, so an interrupted run goes on where it was.
func (s *Store) chainOld(ctx context.Context) error {
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
				if err := t.leave(ctx, head); err != nil {
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
		return t.leave(ctx, head)
	})
	return len(rows), err
}

func (t *tx) leave(ctx context.Context, h *auditHead) error {
	if h == nil {
		return nil
	}
	return t.advance(ctx, h)
}
