package clickhouse

import (
	"context"
	"fmt"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/clickhouse/client"
)

// lateHookColumns are the columns of late_hooks, in the order in which they are written.
var lateHookColumns = []string{"id", "entry", "org_id", "started", "hooks"}

// AddHooks implements requestlog.Sink.
func (w *writer) AddHooks(h *record.LateHooks) error {
	w.lateHooks = append(w.lateHooks, *h)
	return nil
}

// writeLateHooks stores results of guardrails under a separate key, so that repeating it changes
// nothing.
func (d *rowWriter) writeLateHooks(ctx context.Context, list []record.LateHooks) error {
	if len(list) == 0 {
		return nil
	}
	var rows client.Rows
	for i := range list {
		h := &list[i]
		rows.Text(h.ID)
		rows.Text(h.Entry)
		rows.Text(h.OrgID)
		rows.Time(h.Started)
		rows.Text(h.Hooks)
		rows.End()
	}
	if err := d.c.Insert(ctx, "late_hooks", lateHookColumns, rows.Bytes()); err != nil {
		return fmt.Errorf("write guardrail results: %w", err)
	}
	return nil
}

// addLateHooks adds to an attempt the results of guardrails that arrived after its record.
func (d *queries) addLateHooks(ctx context.Context, a *record.Attempt) error {
	var p client.Params
	var late []string
	err := d.ask(ctx, "SELECT hooks FROM late_hooks FINAL WHERE id = "+p.Text(a.ID)+" AND org_id = "+p.Text(a.OrgID)+" ORDER BY entry", &p,
		func(scan func(...any) error) error {
			var hooks string
			err := scan(&hooks)
			late = append(late, hooks)
			return err
		})
	if err != nil {
		return fmt.Errorf("read guardrail results: %w", err)
	}
	a.AddHooks(late...)
	return nil
}
