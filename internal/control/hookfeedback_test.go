package control_test

import (
	"context"
	"log/slog"
	"testing"

	"sluice/internal/control/logs"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// Feedback that was accepted is written when the gateway stops, and found by its trace. Invalid feedback
// is not written.
func TestHookFeedback_IsWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, storetest.SQLite(t))
	org, workspace := ident.NewID(), ident.NewID()
	h := logs.NewHookFeedback(st, &clock{now: began}, slog.New(slog.DiscardHandler))
	for range 250 {
		h.Give(org, workspace, &record.Feedback{TraceID: "t", Value: -5, Weight: 0.5, Metadata: []byte(`{"a":"b"}`)})
	}
	h.Give(org, workspace, &record.Feedback{TraceID: "t", Value: 11, Weight: 1})
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := h.Run(ended); err != nil {
		t.Fatal(err)
	}
	rows, err := resource.ListRows[record.Feedback](t.Context(), st, resource.Query{
		Kind: record.FeedbackKind, OrgID: org, WorkspaceID: workspace, Statuses: []string{resource.Active}, Index: logs.FeedbackIndex("t"), Limit: 1000,
	})
	if err != nil || len(rows) != 250 || rows[0].Value.Value != -5 || string(rows[0].Value.Metadata) != `{"a":"b"}` {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
