package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// auditRow is a row of the table audit.
type auditRow struct {
	bun.BaseModel `bun:"table:audit,alias:a"`

	ID          string `bun:",pk"`
	OrgID       string
	WorkspaceID string
	ActorID     string
	ActorKind   string
	Action      string
	Kind        string
	TargetID    string
	AtMS        int64 `bun:"at_ms"`
	RemoteIP    string
	Method      string
	Path        string
	RequestID   string
	Status      int
	Body        string
	Seq         sql.NullInt64 // NULL outside the chain
	Prev        string
	Hash        string
}

// auditTable is the audit log: its rows, checkpoints and chain of hashes.
type auditTable struct{ *database }

// auditColumns are the columns of the table audit, in the order of values.
const auditColumns = "id, org_id, workspace_id, actor_id, actor_kind, action, kind, target_id, at_ms, remote_ip, method, path, request_id, status, body, seq, prev, hash"

func (r *auditRow) values() []any {
	return []any{
		r.ID, r.OrgID, r.WorkspaceID, r.ActorID, r.ActorKind, r.Action, r.Kind, r.TargetID, r.AtMS, r.RemoteIP, r.Method, r.Path, r.RequestID,
		int64(r.Status), r.Body, r.Seq, r.Prev, r.Hash,
	}
}

// Audit adds a row to the trail of its organisation, at the end of the transaction. A zero At
// means now. Values that callers choose freely (path, request id, target) are truncated to their
// columns, because an action must not fail over a long trace. A body that is too large is
// TooLarge. An id that exists is a Conflict at the end.
func (t *tx) Audit(ctx context.Context, a resource.AuditRow) error {
	return t.step(ctx, "add to the audit trail", func(context.Context, bun.IDB) error {
		if len(a.Body) > MaxBodyBytes {
			return fault.Newf(fault.TooLarge, "the audit row exceeds %d bytes", MaxBodyBytes)
		}
		t.audits = append(t.audits, auditRow{
			ID: clip(a.ID, 36), OrgID: clip(a.OrgID, 36), WorkspaceID: clip(a.WorkspaceID, 36),
			ActorID: clip(a.ActorID, 255), ActorKind: clip(a.ActorKind, 64), Action: clip(a.Action, 64),
			Kind: clip(a.Kind, 64), TargetID: clip(a.TargetID, 255), AtMS: stamp(a.CreatedAt),
			RemoteIP: clip(a.RemoteIP, 64), Method: clip(a.Method, 64), Path: clip(a.Path, 4096),
			RequestID: clip(a.RequestID, 255), Status: a.Status, Body: clip(string(a.Body), MaxBodyBytes),
		})
		return nil
	})
}

// AuditTrail returns the rows of an organisation, newest first, that are older than the row with
// the id before. An empty before starts with the newest row. The limit is 1 to 1000; 0 means 100.
func (s *auditTable) AuditTrail(ctx context.Context, orgID, before string, limit int) ([]resource.AuditRow, error) {
	maxRows, err := pageSize(limit)
	if err != nil {
		return nil, err
	}
	var rows []auditRow
	err = s.runStep(ctx, "list the audit trail", func(ctx context.Context) error {
		sel := s.db.NewSelect().Model(&rows).Where("a.org_id = ?", orgID).Order("a.id DESC").Limit(maxRows)
		if before != "" {
			sel = sel.Where("a.id < ?", before)
		}
		return sel.Scan(ctx)
	})
	if err != nil {
		return nil, err
	}
	trail := make([]resource.AuditRow, len(rows))
	for i := range rows {
		trail[i] = rows[i].row()
	}
	return trail, nil
}

func (r *auditRow) row() resource.AuditRow {
	return resource.AuditRow{
		ID: r.ID, OrgID: r.OrgID, WorkspaceID: r.WorkspaceID, ActorID: r.ActorID, ActorKind: r.ActorKind,
		Action: r.Action, Kind: r.Kind, TargetID: r.TargetID, CreatedAt: time.UnixMilli(r.AtMS).UTC(),
		RemoteIP: r.RemoteIP, Method: r.Method, Path: r.Path, RequestID: r.RequestID, Status: r.Status, Body: []byte(r.Body),
	}
}

// clip returns a storable string: valid UTF-8 without NUL, at most max characters.
func clip(s string, max int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= max {
		return s
	}
	n := 0
	for i := range s {
		if n == max {
			return s[:i]
		}
		n++
	}
	return s
}
