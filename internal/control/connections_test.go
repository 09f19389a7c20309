package control_test

import (
	"net/http"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/control/upstreams"
	"sluice/internal/domain/mcp"
	"sluice/internal/storage/sqlstore/storetest"
)

// Who leads a workspace sees and ends the connections of all, a user their own ones; and
// none outlives its server.
func TestConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	call := func(caller, method, path, body string) string {
		t.Helper()
		return string(w.step(t, caller+" "+method+" "+path+"\n"+body))
	}
	call("service", "POST", "/v1/mcp-integrations", `{"name":"Own","slug":"own","url":"https://tools.upstream.example/mcp","auth_type":"oauth_auto","transport":"http"}`)
	call("admin", "POST", "/v1/workspaces/ws-main/users", `{"users":[{"id":"<colleague>","role":"member"},{"id":"<owner>","role":"admin"}]}`)
	call("service", "POST", "/v1/mcp-servers", `{"name":"Own","slug":"own","mcp_integration_id":"own"}`)
	made := call("admin", "POST", "/v1/api-keys/workspace/user", `{"name":"C","workspace_id":"ws-main","user_id":"<colleague>","scopes":["mcp_servers.read"]}`)
	colleague := made[strings.LastIndex(made, `"key": "`)+8:]
	colleague = colleague[:strings.Index(colleague, `"`)]
	server, err := w.store.FindSlug(t.Context(), mcp.ServerKind, w.org, "own")
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"owner", "colleague"} {
		c := mcp.Connection{ServerID: server.ID, UserID: w.names.values[user]}
		w.put(t, resource.Record{
			Kind: mcp.ConnectionKind, ID: w.id(user + "-connection"), OrgID: w.org, WorkspaceID: server.WorkspaceID, Index: upstreams.ConnectionIndex(&c),
		}, c)
	}
	connections := "/v1/mcp-servers/own/connections"
	for name, c := range map[string]struct {
		caller, path string
		total        string
	}{
		"a service sees all":     {"service", connections, `"total": 2`},
		"an Admin key too":       {"admin", connections, `"total": 2`},
		"a page of them":         {"service", connections + "?page_size=1", `"has_more": true`},
		"of one user":            {"service", connections + "?user_id=<colleague>", `"total": 1`},
		"a user their own":       {colleague, connections, `"user_id": "<colleague>"`},
		"an owner any":           {"user", connections + "?user_id=<colleague>", `"user_id": "<colleague>"`},
		"and their own at first": {"user", connections, `"user_id": "<owner>"`},
	} {
		if got := call(c.caller, http.MethodGet, c.path, ""); !strings.Contains(got, c.total) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := call("service", "GET", "/v1/mcp-servers/own/user-access", ""); strings.Count(got, `"connection_status": "connected"`) != 2 {
		t.Errorf("who is connected: %s", got)
	}
	if got := call(colleague, "DELETE", connections, ""); !strings.Contains(got, `"success": true`) {
		t.Errorf("a member ends their own: %s", got)
	}
	if got := call(colleague, "DELETE", connections, ""); !strings.Contains(got, "=> 404") {
		t.Errorf("a second time: %s", got)
	}
	if got := call("service", "GET", connections, ""); !strings.Contains(got, `"total": 1`) {
		t.Errorf("one is left: %s", got)
	}
	call("service", "DELETE", "/v1/mcp-servers/own", "")
	if n, err := w.store.Count(t.Context(), resource.Query{Kind: mcp.ConnectionKind, OrgID: w.org}); n != 0 || err != nil {
		t.Errorf("%d connections outlive their server, %v", n, err)
	}
}

// An answer that never ends, or is too long, ends a trial all the same.
func TestTrialIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for _, sort := range []string{"line", "lines", "nothing"} {
		w.step(t, "service POST /v1/mcp-integrations\n"+`{"name":"x","slug":"`+sort+`","url":"http://endless.upstream.example/`+sort+`","auth_type":"none","transport":"http"}`)
		if got := string(w.step(t, "service POST /v1/mcp-integrations/"+sort+"/test\n")); !strings.Contains(got, `"success": false`) || len(got) > 2000 {
			t.Errorf("%s: %.2000s", sort, got)
		}
	}
}
