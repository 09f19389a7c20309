package gateway_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// A provider is told the trace of the call, with the span of the attempt as its parent, if
// the operator wants that.
func TestTraceContextToProviders(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	came := []string{"traceparent: 00-" + trace + "-00f067aa0ba902b7-00", "tracestate: vendor=1,other=2", "baggage: user=ada"}
	for name, c := range map[string]struct {
		path, method string
		headers      []string
		trace        string // "" for any
		flags, state string
	}{
		"the caller's":         {"/v1/chat/completions", "POST", came, trace, "00", "vendor=1,other=2"},
		"pass-through":         {"/v1/custom/thing", "POST", came, trace, "00", "vendor=1,other=2"},
		"our own":              {"/v1/chat/completions", "POST", nil, "", "01", ""},
		"another is named":     {"/v1/custom/thing", "POST", append([]string{"x-gateway-trace-id: 0191f3a0-0000-7000-8000-000000000001"}, came...), "0191f3a0000070008000000000000001", "01", ""},
		"state without parent": {"/v1/chat/completions", "POST", came[1:2], "", "01", ""},
		"state that is long":   {"/v1/chat/completions", "POST", []string{came[0], "tracestate: a=" + strings.Repeat("x", 511)}, trace, "00", ""},
	} {
		r := newRig(t, func(s *gateway.Settings) { s.TraceContext = true })
		a := r.call(c.method, c.path, hello, r.custom(c.headers...)...)
		if c.path == "/v1/chat/completions" { // the upstream knows nothing of the other
			require.Equal(t, 200, a.StatusCode, name+": "+a.Text)
		}
		seen := r.up.Seen()
		require.NotEmpty(t, seen, name)
		sent := func(header string) string { return field(seen[len(seen)-1], header) }
		parts := strings.Split(sent("traceparent"), "-")
		require.Len(t, parts, 4, name)
		row := r.journal.one(t)
		id, span := row.W3CTrace(), row.W3CSpan()
		assert.Equal(t, []string{"00", hex.EncodeToString(id[:]), hex.EncodeToString(span[:]), c.flags}, parts, name)
		if c.trace != "" {
			assert.Equal(t, c.trace, parts[1], name)
		}
		assert.Equal(t, c.state, sent("tracestate"), name)
		if c.path == "/v1/chat/completions" {
			assert.Empty(t, sent("baggage"), name)
		}
	}
	r := newRig(t)
	r.call("POST", "/v1/chat/completions", hello, r.custom(came...)...)
	assert.Empty(t, field(r.up.Seen()[0], "traceparent"), "off by default")
}

// The attempts of a request are spans of their own.
func TestEachAttemptIsASpan(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.TraceContext = true })
	target := `{"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1"}`
	r.up.Script(upstream.InTurn(upstream.Text(503, "text/plain", "no")))
	a := r.call("POST", "/v1/chat/completions", hello, `x-gateway-config: {"strategy":{"mode":"fallback"},"targets":[`+target+`,`+target+`]}`)
	require.Equal(t, 200, a.StatusCode, a.Text)
	seen := r.up.Seen()
	require.Len(t, seen, 2)
	one, two := field(seen[0], "traceparent"), field(seen[1], "traceparent")
	assert.Equal(t, one[:35], two[:35], "one trace")
	assert.NotEqual(t, one[36:52], two[36:52], "two spans")
}

// field is a line of a head that the upstream got; empty when there is none.
func field(seen upstream.Seen, name string) string {
	for _, f := range seen.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}
