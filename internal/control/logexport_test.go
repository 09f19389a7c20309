package control_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/storage/sqlstore/storetest"
)

// An organisation has a bounded number of log exports under way on a node; one that ends
// makes room, and the files of an archived workspace go with it.
func TestLogExportsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	send := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("x-gateway-api-key", w.key("admin"))
		rec := httptest.NewRecorder()
		w.admin.Handler().ServeHTTP(rec, r)
		return rec
	}
	start := func() (id string, status int) {
		var order struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(send("POST", "/v1/logs/exports", `{"workspace_id":"ws-two","filters":{},"requested_data":["id"]}`).Body.Bytes(), &order); err != nil {
			t.Fatal(err)
		}
		return order.ID, send("POST", "/v1/logs/exports/"+order.ID+"/start", "").Code
	}
	for n := range record.MaxRunningExports {
		if _, status := start(); status != 200 {
			t.Fatalf("start %d: %d", n, status)
		}
	}
	id, status := start()
	if status != 409 {
		t.Errorf("one more: %d", status)
	}
	w.exports.run(t)
	if got := send("POST", "/v1/logs/exports/"+id+"/start", "").Code; got != 200 {
		t.Errorf("when the others are done: %d", got)
	}
	if n := len(w.exports.files.List()); n != record.MaxRunningExports {
		t.Errorf("%d files", n)
	}
	if rec := send("DELETE", "/v1/admin/workspaces/ws-two", `{"name":"Workspace second","force_delete":true}`); rec.Code != 200 {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	w.clock.wait(t, "1h") // files are looked at now and then
	w.exports.run(t)
	if left := w.exports.files.List(); len(left) > 0 {
		t.Errorf("left of an archived workspace are %v", left)
	}
}
