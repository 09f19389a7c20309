package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"sluice/internal/domain/record"
)

// lateHookKinds are the types of the columns of late_hooks.
var lateHookKinds = []mapping.Type{mapping.TypeUUID, mapping.TypeUUID, mapping.TypeVarchar, mapping.TypeTimestamp, mapping.TypeVarchar}

// AddHooks implements requestlog.Sink. A transaction that is repeated stored nothing before, so that no
// entry is stored twice.
func (w *writer) AddHooks(h *record.LateHooks) (err error) {
	if w.lateHooks == nil {
		if w.lateHooks, err = newSheet(w.db.link, "late_hooks", lateHookKinds); err != nil {
			return err
		}
	}
	s := w.lateHooks
	s.key(keyOf(h.ID, nil))
	s.key(keyOf(h.Entry, nil))
	s.text(strings.ToValidUTF8(h.OrgID, "\uFFFD"))
	s.time(h.Started)
	s.text(strings.ToValidUTF8(h.Hooks, "\uFFFD"))
	return s.end()
}

// addLateHooks adds to an attempt the results of guardrails that arrived after its record.
func addLateHooks(ctx context.Context, tx *sql.Tx, a *record.Attempt) error {
	rows, err := tx.QueryContext(ctx, "SELECT hooks FROM late_hooks WHERE id = ? AND org_id = ? ORDER BY entry", keyParam(a.ID), a.OrgID)
	if err != nil {
		return fmt.Errorf("read guardrail results: %w", err)
	}
	var late []string
	err = each(rows, func() error {
		var hooks string
		err := rows.Scan(&hooks)
		late = append(late, hooks)
		return err
	})
	if err != nil {
		return fmt.Errorf("read guardrail results: %w", err)
	}
	a.AddHooks(late...)
	return nil
}
