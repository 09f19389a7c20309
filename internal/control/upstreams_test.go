package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
)

// outside is all that the administration calls: the gateways of deployments, and a real
// listener that is every upstream server and agent.
type outside struct {
	gateways
	upstream http.RoundTripper
}

func newOutside(t *testing.T) outside {
	t.Helper()
	srv := httptest.NewServer(upstreamHandler())
	t.Cleanup(srv.Close)
	tr := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, srv.Listener.Addr().String())
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return outside{upstream: tr}
}

// RoundTrip sends what is for an upstream there.
func (o outside) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Hostname(), ".upstream.example") {
		return o.upstream.RoundTrip(r)
	}
	return o.gateways.RoundTrip(r)
}

const hello = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},` +
	`"serverInfo":{"name":"Tickets","version":"2.1","title":"Ticket desk","icons":[{"src":"https://tools.upstream.example/i.png"}]},"instructions":"Ask before you close a ticket."}}`

const card = `{"name":"Planner","description":"plans","url":"https://planner.upstream.example/","version":"1.0",` +
	`"skills":[{"id":"plan","name":"Plan","description":"makes a plan","tags":["planning"]},{"id":"sum","name":"Sum up","tags":[]}]}`

// upstreamHandler is servers and agents of all sorts, by their names.
func upstreamHandler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, status int, kind, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the client may have left
		})
	}
	mux.HandleFunc("POST tools.upstream.example/mcp", func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Method string }
		if json.NewDecoder(r.Body).Decode(&ask) != nil || ask.Method != "initialize" || !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if r.Header.Get("Authorization") != "Bearer s3cr3t-token-of-tools" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, hello) // the client may have left
	})
	mux.HandleFunc("POST stream.upstream.example/mcp", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": welcome\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\nevent: message\ndata: %s\n\n", hello)
		w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // every server's writer is one
		<-r.Context().Done()     // it stays open
	})
	mux.HandleFunc("GET old.upstream.example/sse", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
		w.(http.Flusher).Flush() //nolint:errcheck,forcetypeassert // every server's writer is one
		<-r.Context().Done()
	})
	handle("endless.upstream.example/line", 200, "text/event-stream", "data: "+strings.Repeat("x", 2<<20)+"\n\n")
	handle("endless.upstream.example/lines", 200, "text/event-stream", strings.Repeat(": nothing\n\n", 1<<18))
	handle("endless.upstream.example/nothing", 200, "text/event-stream", "data: {}\n\n")
	handle("page.upstream.example/", 200, "text/html", "<html>")
	handle("broken.upstream.example/", 500, "text/plain", "s3cr3t stack trace")
	mux.HandleFunc("moved.upstream.example/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://tools.upstream.example/mcp", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("GET agents.upstream.example/planner/.well-known/agent-card.json", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "s3cr3t-key-of-agents" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, card) // the client may have left
	})
	handle("GET older.upstream.example/.well-known/agent.json", 200, "application/json", card)
	handle("GET huge.upstream.example/.well-known/agent-card.json", 200, "application/json", `{"name":"`+strings.Repeat("x", 1<<20)+`","url":"https://a.example"}`)
	handle("GET list.upstream.example/.well-known/agent-card.json", 200, "application/json", `[]`)
	handle("GET noname.upstream.example/.well-known/agent-card.json", 200, "application/json", `{"url":"https://a.example"}`)
	handle("GET nourl.upstream.example/.well-known/agent-card.json", 200, "application/json", `{"name":"x"}`)
	return mux
}

// managers are the external secret managers: each secret is known by its path.
type managers struct{}

func (managers) Read(_ context.Context, uses []credential.SecretUse) (map[string]string, error) {
	values := map[string]string{}
	for _, u := range uses {
		if u.Source == nil {
			return nil, fault.New(fault.SecretUnavailable, "the secret cannot be read")
		}
		values[u.Field] = map[string]string{"secret/data/tools": "Bearer s3cr3t-token-of-tools"}[u.Source.Path]
	}
	return values, nil
}
