package sqlstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/domain/audit"
	"sluice/internal/kernel/fault"
)

// chained returns the row in the form in which it is hashed and exported.
func (r *auditRow) chained() audit.Row {
	return audit.Row{
		Seq: r.Seq.Int64, Prev: r.Prev, Hash: r.Hash, OrgID: r.OrgID, ID: r.ID, Timestamp: audit.Stamp(time.UnixMilli(r.AtMS)),
		ActorKind: r.ActorKind, ActorID: r.ActorID, WorkspaceID: r.WorkspaceID, Resource: r.Kind, Action: r.Action, TargetID: r.TargetID,
		Method: r.Method, URI: r.Path, Status: r.Status, RequestID: r.RequestID, ClientIP: r.RemoteIP, Details: r.Body,
	}
}

func chainedRows(rows []auditRow) []audit.Row {
	out := make([]audit.Row, len(rows))
	for i := range rows {
		out[i] = rows[i].chained()
	}
	return out
}

// AuditRows returns the rows that a query selects, the newest first, and their total number.
func (s *auditTable) AuditRows(ctx context.Context, q audit.Query) (list []audit.Row, total int, err error) {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return nil, 0, err
	}
	if q.Offset < 0 {
		return nil, 0, fault.New(fault.InvalidRequest, "must be 0 or greater").WithParam("offset")
	}
	var rows []auditRow
	var n int64
	err = s.runStep(ctx, "list the audit trail", func(ctx context.Context) (err error) {
		if n, err = auditFilter(s.db.NewSelect().Model((*auditRow)(nil)), q).Count(ctx); err != nil {
			return err
		}
		rows = rows[:0]
		sel := auditFilter(s.db.NewSelect().Model(&rows), q).Order("a.at_ms DESC", "a.id DESC")
		return sel.Limit(limit).Offset(int64(q.Offset)).Scan(ctx)
	})
	return chainedRows(rows), int(n), err
}

func auditFilter(sel *bun.SelectQuery, q audit.Query) *bun.SelectQuery {
	sel = sel.Where("a.org_id = ?", q.OrgID)
	if !q.From.IsZero() {
		sel = sel.Where("a.at_ms >= ?", q.From.UnixMilli())
	}
	if !q.To.IsZero() {
		sel = sel.Where("a.at_ms < ?", q.To.UnixMilli())
	}
	for _, f := range []struct{ column, value string }{
		{"a.method", q.Method}, {"a.request_id", q.RequestID}, {"a.actor_id", q.ActorID}, {"a.actor_kind", q.ActorKind},
		{"a.workspace_id", q.WorkspaceID}, {"a.kind", q.Resource}, {"a.action", q.Action}, {"a.remote_ip", q.ClientIP},
	} {
		if f.value != "" {
			sel = sel.Where("? = ?", bun.Ident(f.column), f.value)
		}
	}
	if q.Status != 0 {
		sel = sel.Where("a.status = ?", q.Status)
	}
	if q.URI != "" {
		sel = sel.Where("LOWER(a.path) LIKE ? ESCAPE '!'", "%"+wildcards.Replace(strings.ToLower(q.URI))+"%")
	}
	if q.Search != "" {
		text := "%" + wildcards.Replace(strings.ToLower(q.Search)) + "%"
		sel = sel.Where("(LOWER(a.path) LIKE ? ESCAPE '!' OR LOWER(a.action) LIKE ? ESCAPE '!' OR LOWER(a.kind) LIKE ? ESCAPE '!')", text, text, text)
	}
	return sel
}

// Head returns the end of an organisation's trail. The end of an empty trail is before the first
// row.
func (s *auditTable) Head(ctx context.Context, orgID string) (audit.Head, error) {
	var rows []auditHead
	err := s.runStep(ctx, "read the head of the audit trail", func(ctx context.Context) error {
		rows = rows[:0]
		return s.db.NewSelect().Model(&rows).Where("h.org_id = ?", orgID).Scan(ctx)
	})
	if err != nil || len(rows) == 0 {
		return audit.Head{OrgID: orgID, Hash: audit.Genesis, First: 1}, err
	}
	return rows[0].head(), nil
}

func (h *auditHead) head() audit.Head {
	head := audit.Head{OrgID: h.OrgID, Seq: h.Seq, Hash: h.Hash, First: h.FirstSeq}
	if h.Checkpoint > 0 {
		head.Signed = audit.Checkpoint{OrgID: h.OrgID, Number: h.Checkpoint, Seq: h.CheckpointSeq, Timestamp: audit.Stamp(time.UnixMilli(h.CheckpointMS))}
	}
	return head
}

// Heads lists the trails that follow an organisation by its id, at most limit.
func (s *auditTable) Heads(ctx context.Context, after string, limit int) ([]audit.Head, error) {
	var rows []auditHead
	err := s.runStep(ctx, "list the audit trails", func(ctx context.Context) error {
		rows = rows[:0]
		sel := s.db.NewSelect().Model(&rows).Order("h.org_id").Limit(int64(limit))
		if after != "" { // the trail without an organisation has the empty id
			sel = sel.Where("h.org_id > ?", after)
		}
		return sel.Scan(ctx)
	})
	heads := make([]audit.Head, len(rows))
	for i := range rows {
		heads[i] = rows[i].head()
	}
	return heads, err
}

// Span returns the first and the last row of the chain in a time range; 0 and 0 if there is none.
// The range excludes to; a zero time sets no limit.
func (s *auditTable) Span(ctx context.Context, orgID string, from, to time.Time) (first, last int64, err error) {
	err = s.runStep(ctx, "read the audit trail", func(ctx context.Context) error {
		sel := s.db.NewSelect().Model((*auditRow)(nil)).ColumnExpr("COALESCE(MIN(a.seq), 0), COALESCE(MAX(a.seq), 0)")
		return auditFilter(sel, audit.Query{OrgID: orgID, From: from, To: to}).Scan(ctx, &first, &last)
	})
	return first, last, err
}

// Rows returns rows of the chain starting at seq, in order, at most limit.
func (s *auditTable) Rows(ctx context.Context, orgID string, seq int64, limit int) ([]audit.Row, error) {
	var rows []auditRow
	err := s.runStep(ctx, "read the audit trail", func(ctx context.Context) error {
		rows = rows[:0]
		return s.db.NewSelect().Model(&rows).Where("a.org_id = ?", orgID).Where("a.seq >= ?", seq).Order("a.seq").Limit(int64(limit)).Scan(ctx)
	})
	return chainedRows(rows), err
}

// Checkpoints returns the checkpoints of a trail starting at a number, in order.
func (s *auditTable) Checkpoints(ctx context.Context, orgID string, number int64, limit int) ([]audit.Checkpoint, error) {
	return s.checkpoints(ctx, limit, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("c.org_id = ?", orgID).Where("c.number >= ?", number).Order("c.number")
	})
}

// Around returns the newest checkpoint of a row before seq, and the first checkpoint of seq or a
// later row.
func (s *auditTable) Around(ctx context.Context, orgID string, seq int64) (before, after *audit.Checkpoint, err error) {
	before, err = s.checkpoint(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("c.org_id = ?", orgID).Where("c.seq < ?", seq).Order("c.seq DESC", "c.number DESC")
	})
	after, late := s.checkpoint(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("c.org_id = ?", orgID).Where("c.seq >= ?", seq).Order("c.seq", "c.number")
	})
	return before, after, errors.Join(err, late)
}

// Expired returns the newest checkpoint that was made at or before a time.
func (s *auditTable) Expired(ctx context.Context, orgID string, until time.Time) (*audit.Checkpoint, error) {
	return s.checkpoint(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("c.org_id = ?", orgID).Where("c.at_ms <= ?", until.UnixMilli()).Order("c.number DESC")
	})
}

func (s *auditTable) checkpoint(ctx context.Context, where func(*bun.SelectQuery) *bun.SelectQuery) (*audit.Checkpoint, error) {
	list, err := s.checkpoints(ctx, 1, where)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func (s *auditTable) checkpoints(ctx context.Context, limit int, where func(*bun.SelectQuery) *bun.SelectQuery) ([]audit.Checkpoint, error) {
	var rows []auditCheckpoint
	err := s.runStep(ctx, "read the checkpoints", func(ctx context.Context) error {
		rows = rows[:0]
		return where(s.db.NewSelect().Model(&rows)).Limit(int64(limit)).Scan(ctx)
	})
	list := make([]audit.Checkpoint, len(rows))
	for i := range rows {
		list[i] = rows[i].checkpoint()
	}
	return list, err
}
