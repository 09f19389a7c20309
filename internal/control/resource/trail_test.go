package resource_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
)

// What happens outside a call gets onto the trail with the least that is needed.
func TestTrail(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	body, err := resource.AuditDetails{Notes: map[string]any{"rotation_mode": "auto"}}.Body()
	if err != nil {
		t.Fatal(err)
	}
	created := time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		trail resource.Trail
		row   resource.AuditRow
	}{
		{resource.Trail{Clock: fixed{}}, resource.AuditRow{OrgID: "org", Kind: "api_keys", Action: "rotate", TargetID: "key", Body: body}},
		{resource.Trail{Clock: fixed{}}, resource.AuditRow{OrgID: "org", Kind: "auth", Action: "auth_failure", ActorKind: resource.ActorUser, ActorID: "ada", CreatedAt: created, Status: 401, ID: "own", RequestID: "request"}},
		{resource.Trail{Clock: fixed{}, Off: true}, resource.AuditRow{OrgID: "org", Kind: "auth", Action: "login"}},
	} {
		if err := r.InTx(t.Context(), func(tx resource.Tx) error { return c.trail.Audit(t.Context(), tx, c.row) }); err != nil {
			t.Fatal(err)
		}
	}
	rows := r.trail()
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	byAction := map[string]resource.AuditRow{rows[0].Action: rows[0], rows[1].Action: rows[1]}
	made := byAction["rotate"]
	if !ident.ValidID(made.ID) {
		t.Errorf("id %q", made.ID)
	}
	made.ID = ""
	if diff := cmp.Diff(resource.AuditRow{OrgID: "org", Kind: "api_keys", Action: "rotate", TargetID: "key", ActorKind: resource.ActorSystem, Status: 200, CreatedAt: fixed{}.Now(), Body: body}, made); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(resource.AuditRow{ID: "own", OrgID: "org", Kind: "auth", Action: "auth_failure", ActorKind: resource.ActorUser, ActorID: "ada", Status: 401, CreatedAt: created, RequestID: "request", Body: []byte("{}")}, byAction["auth_failure"]); diff != "" {
		t.Error(diff)
	}
}

// Whatever a caller sends, a row keeps a little of it and no secret.
func TestWhatARowKeepsOfARequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	query := "?X-API-Key=s3cr3t&accessToken=s3cr3t&url=https://u:s3cr3t@h/%3Fkey%3Ds3cr3t&plain=" + strings.Repeat("ü", 600)
	for i := range 100 {
		query += "&p" + strconv.Itoa(i) + "=1"
	}
	req := httptest.NewRequest("POST", "/v1/shelves"+query, strings.NewReader(`{"name":"a"}`))
	for name, value := range map[string]string{
		"Authorization": "Bearer s3cr3t", "Proxy-Authorization": "s3cr3t", "X-Amz-Security-Token": "s3cr3t", "X-Goog-Api-Key": "s3cr3t",
		"Cookie": "s3cr3t", "Cf-Access-Jwt-Assertion": "s3cr3t", "User-Agent": strings.Repeat("a", 5000), "Traceparent": "00-1-2-03",
	} {
		req.Header.Set(name, value)
	}
	for i := range 200 {
		req.Header.Set("X-Secret-"+strconv.Itoa(i), "s3cr3t")
	}
	rec := httptest.NewRecorder()
	r.engine.Handler().ServeHTTP(rec, req)
	rows := r.trail()
	if rec.Code != 200 || len(rows) != 1 {
		t.Fatalf("%d %s, %d rows", rec.Code, rec.Body, len(rows))
	}
	body := string(rows[0].Body)
	if strings.Contains(body, "s3cr3t") || strings.Contains(body, "ookie") || len(body) > 8<<10 {
		t.Errorf("%d bytes: %s", len(body), body)
	}
	var d resource.AuditDetails
	if err := json.Unmarshal(rows[0].Body, &d); err != nil {
		t.Fatal(err)
	}
	if d.Headers["traceparent"] != "00-1-2-03" || len(d.Headers["user-agent"]) > 600 || len(d.Query) != 50 {
		t.Errorf("%d parameters, headers %v", len(d.Query), d.Headers)
	}
}

// Who hangs up before the refusal is on the trail all the same.
func TestRefusalOfSomebodyWhoLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, widgets(nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, "POST", "/v1/shelves", strings.NewReader(`{"colour": "red"}`))
	rec := httptest.NewRecorder()
	r.engine.Handler().ServeHTTP(rec, req)
	if rows := r.trail(); rec.Code != http.StatusBadRequest || len(rows) != 1 || rows[0].Status != http.StatusBadRequest {
		t.Errorf("%d, on the trail: %+v", rec.Code, rows)
	}
}
