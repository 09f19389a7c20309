package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/ops/telemetry/accesslog"
)

// lines are what a logger writes.
type lines chan []byte

// Write takes one line.
func (l lines) Write(b []byte) (int, error) { l <- append([]byte(nil), b...); return len(b), nil }

// A request leaves one line, by which it is found in the log and its trace.
func TestAccessLine(t *testing.T) {
	t.Parallel()
	r, written := newRig(t), make(lines, 10)
	r.gateway.Access = startAccessLog(t, written)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	a := r.call("POST", "/v1/chat/completions", `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"my secret words"}]}`, r.custom("traceparent: 00-"+trace+"-00f067aa0ba902b7-01")...)
	require.Equal(t, 200, a.StatusCode, a.Text)
	raw := <-written
	var line map[string]any
	require.NoError(t, json.Unmarshal(raw, &line))
	for name, want := range map[string]any{
		"msg": "request", "trace_id": trace, "request_id": a.Header.Get("x-gateway-request-id"), "status": 200.0, "endpoint": "chatComplete",
		"provider": "openai", "model": "gpt-4o-mini", "attempts": 1.0,
	} {
		assert.Equal(t, want, line[name], name)
	}
	assert.Positive(t, line["tokens"])
	assert.Positive(t, line["cost_dollars"])
	assert.NotContains(t, string(raw), "secret")

	const invitation = "inv_mzKq3vR8xT1yB5nJ7wLcD2fG4hS6aE9uP0oI-_QZkXs"
	r.call("POST", "/v1/admin/users/invites/"+invitation+"/acept", `{"password":"s3cr3t-passw0rd"}`) // a slip, and no route
	assert.NotContains(t, string(<-written), invitation)

	const key = "sk-live-0123456789abcdef"
	r.call("GET", "/v1/configs/"+key, "", r.custom()...) // a slip, which goes to the provider
	assert.NotContains(t, string(<-written), key)
	rows := r.journal.all()
	last := rows[len(rows)-1]
	assert.Equal(t, "/v1/configs/***", last.Path)
	assert.NotContains(t, last.UpstreamURL+last.SpanName, key)

	quiet := newRig(t)
	for range 2 { // with the second answer the first request is over
		quiet.call("POST", "/v1/chat/completions", hello, quiet.custom()...)
	}
	assert.Empty(t, written)
}

// The line of a failed request names the error, its code and the reason.
func TestAccessLine_NamesTheReasonOfAFailure(t *testing.T) {
	t.Parallel()
	r, written := newRig(t), make(lines, 10)
	r.gateway.Access = startAccessLog(t, written)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	host := "http://" + closed.Addr().String()
	require.NoError(t, closed.Close())
	a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: openai", "x-gateway-custom-host: "+host)
	require.Equal(t, 503, a.StatusCode, a.Text)
	assert.Contains(t, a.Text, `"reason":"refused"`)
	assert.NotContains(t, a.Text, closed.Addr().String())
	var line map[string]any
	require.NoError(t, json.Unmarshal(<-written, &line))
	assert.Equal(t, "upstream_unreachable", line["code"])
	assert.Equal(t, "refused", line["reason"])
	assert.Contains(t, line["error"], "it refuses connections")
	assert.Positive(t, line["duration_ms"])
	assert.NotEmpty(t, line["workspace"])
}

// The line of an error that came from the provider says so.
func TestAccessLine_NamesAnErrorOfTheProvider(t *testing.T) {
	t.Parallel()
	r, written := newRig(t), make(lines, 10)
	r.gateway.Access = startAccessLog(t, written)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"message":"no access to this model","type":"permission_error"}}`)
	}))
	t.Cleanup(provider.Close)
	a := r.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: openai", "x-gateway-custom-host: "+provider.URL+"/v1")
	require.Equal(t, 403, a.StatusCode, a.Text)
	var line map[string]any
	require.NoError(t, json.Unmarshal(<-written, &line))
	assert.Equal(t, "provider_error", line["code"])
	assert.Equal(t, "the provider responded with status 403", line["error"])
}

// startAccessLog runs an access log that writes to out until the test ends.
func startAccessLog(t *testing.T, out io.Writer) *accesslog.Log {
	t.Helper()
	l := accesslog.New(out, "json", slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return l
}
