package resource_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/storage/sqlstore/storetest"
)

// A workspace has so many records of a kind. What is deleted makes room again, and others
// have theirs.
func TestAWorkspaceHasSoManyRecords(t *testing.T) {
	t.Parallel()
	engine := resource.New(resource.Parts{
		Store: storetest.Open(t, storetest.SQLite(t)), Clock: fixed{}, Log: slog.New(slog.DiscardHandler), MaxRecords: 2,
		Identify: func(r *http.Request) (*access.Principal, error) {
			return &access.Principal{
				Kind: access.ByKey, ID: "key", KeyType: access.WorkspaceService, OrgID: "org", WorkspaceID: r.Header.Get("at"),
				Scopes: access.NewScopes(access.Allowed(access.WorkspaceService)...),
			}, nil
		},
		FindWorkspace: func(context.Context, resource.Reader, string, string) (resource.Record, error) {
			return resource.Record{}, nil
		},
	}, huma.Info{Title: "test", Version: "1"}, widgets(nil))
	last := "" // id of what was made last
	call := func(workspace, method, path string) int {
		t.Helper()
		r, rec := httptest.NewRequest(method, path, strings.NewReader(`{"name": "a"}`)), httptest.NewRecorder()
		r.Header.Set("at", workspace)
		engine.Handler().ServeHTTP(rec, r)
		if rec.Code == 400 && !strings.Contains(rec.Body.String(), "RECORDS_PER_KIND") {
			t.Error(rec.Body)
		}
		var made struct{ ID string }
		if err := json.Unmarshal(rec.Body.Bytes(), &made); err != nil {
			t.Error(err)
		}
		last = cmp.Or(made.ID, last)
		return rec.Code
	}
	var got []int
	for range 3 {
		got = append(got, call("one", "POST", "/v1/shelves"))
	}
	got = append(got, call("one", "DELETE", "/v1/shelves/"+last), call("one", "POST", "/v1/shelves"), call("two", "POST", "/v1/shelves"))
	if want := "[200 200 400 200 200 200]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
