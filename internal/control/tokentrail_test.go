package control_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/control/logs"
	"sluice/internal/control/resource"
	"sluice/internal/domain/audit"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// A flood of refused tokens leaves as many rows as a minute may have, which say how many
// there were besides; what was taken is written when the gateway stops.
func TestTokenTrail(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, storetest.SQLite(t))
	org := ident.NewID()
	err := st.InTx(t.Context(), func(tx resource.Tx) error {
		return tx.Insert(t.Context(), resource.Record{Kind: tenant.OrganisationKind, ID: org, Status: resource.Active, Body: []byte("{}")})
	})
	if err != nil {
		t.Fatal(err)
	}
	trail := logs.NewTokenTrail(st, resource.Trail{Clock: &clock{now: began}}, slog.New(slog.DiscardHandler))
	write := func(n int, when time.Time) []resource.AuditRow {
		t.Helper()
		for range n {
			trail.TokenRefused(audit.RefusedToken{RefusedAt: when, Remote: "192.0.2.7", Method: "POST", Path: "/v1/chat/completions", RequestID: "r", Reason: "why"})
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		if err := trail.Run(ended); err != nil {
			t.Fatal(err)
		}
		rows, err := st.AuditTrail(t.Context(), org, "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	notes := func(r resource.AuditRow) resource.AuditDetails {
		t.Helper()
		var d resource.AuditDetails
		if err := json.Unmarshal(r.Body, &d); err != nil {
			t.Fatal(err)
		}
		return d
	}

	const flood = 40
	rows := write(logs.TokensPerMinute+flood, began)
	if len(rows) != logs.TokensPerMinute {
		t.Fatalf("%d rows of a minute, want %d", len(rows), logs.TokensPerMinute)
	}
	r := rows[0]
	r.ID, r.Body = "", nil
	if diff := cmp.Diff(resource.AuditRow{
		OrgID: org, Kind: "auth", Action: "auth_failure", ActorKind: resource.ActorUser, CreatedAt: began, Status: 401,
		RemoteIP: "192.0.2.7", Method: "POST", Path: "/v1/chat/completions", RequestID: "r",
	}, r); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
	if d := notes(rows[len(rows)-1]); d.Error != "why" || d.Notes["credential"] != "jwt" {
		t.Errorf("%+v", d)
	}
	if rows = write(1, began.Add(30*time.Second)); len(rows) != logs.TokensPerMinute {
		t.Errorf("%d rows of the same minute", len(rows))
	}
	rows = write(2, began.Add(time.Minute))
	if len(rows) != logs.TokensPerMinute+2 {
		t.Fatalf("%d rows after the next minute began", len(rows))
	}
	leftOut := 0.0
	for _, r := range rows {
		n, _ := notes(r).Notes["left_out_before"].(float64)
		leftOut += n
	}
	if leftOut != flood+1 {
		t.Errorf("the rows tell of %v that were left out, want %d", leftOut, flood+1)
	}
}
