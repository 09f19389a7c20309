package control_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/agent"
	"sluice/internal/domain/mcp"
	"sluice/internal/storage/sqlstore/storetest"
)

// A server that wants its key in the address is reached by it, and shows it to nobody: not
// to who may see its integration, its servers or a trial of it. What was shown can be sent
// back.
func TestKeysInAddressesAreNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	call := func(method, path, body string) string {
		t.Helper()
		rec := w.raw(t, "service", method, path, body)
		if rec.Code != 200 {
			t.Fatalf("%s %s %s: %d %s", method, path, body, rec.Code, rec.Body)
		}
		return rec.Body.String()
	}
	idOf := func(response string) string {
		_, rest, _ := strings.Cut(response, `"id":"`)
		id, _, _ := strings.Cut(rest, `"`)
		return id
	}
	defer func() {
		if logText := w.logged.text(); strings.Contains(logText, "s3cr3t") || !strings.Contains(logText, "upstream connection test failed") {
			t.Errorf("logged: %s", logText)
		}
	}()
	const masked = `https://tools.upstream.example/mcp?token=***&v=2`
	for _, c := range []struct{ kind, integrations, members, servers, field string }{
		{mcp.IntegrationKind, "/v1/mcp-integrations", `,"transport":"http"`, "/v1/mcp-servers", "mcp_integration_id"},
		{agent.IntegrationKind, "/v1/agent-integrations", "", "/v1/agent-servers", "agent_integration_id"},
	} {
		id := idOf(call("POST", c.integrations, `{"name":"I","auth_type":"none"`+c.members+`,"url":"https://tools.upstream.example/mcp?token=s3cr3t&v=2"}`))
		server := idOf(call("POST", c.servers, `{"name":"S","`+c.field+`":"`+id+`"}`))
		shown := func() string {
			return call("GET", c.integrations, "") + call("GET", c.integrations+"/"+id, "") + call("GET", c.servers, "") + call("GET", c.servers+"/"+server, "") + call("POST", c.integrations+"/"+id+"/test", "{}")
		}
		before := shown()
		call("PUT", c.integrations+"/"+id, `{"name":"J","url":"https://tools.upstream.example/mcp?token=***&v=2"}`)
		if after := shown(); strings.Contains(before+after, "s3cr3t") || !strings.Contains(before, masked) || !strings.Contains(after, masked) {
			t.Errorf("%s: %s", c.integrations, before+after)
		}
		rows, err := w.store.List(t.Context(), resource.Query{Kind: c.kind, IDs: []string{id}})
		if err != nil || len(rows) != 1 || !strings.Contains(string(rows[0].Body), "token=s3cr3t") {
			t.Errorf("%s: what is stored: %v %v", c.integrations, rows, err)
		}
	}
}

// logBuffer keeps what was logged. It is safe for concurrent use.
type logBuffer struct {
	mu  sync.Mutex // guards all
	all bytes.Buffer
}

func (s *logBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *logBuffer) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}
