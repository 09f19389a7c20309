package otlp_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"sluice/internal/domain/record"
	"sluice/internal/ops/telemetry/otlp"
)

// Each guardrail of an attempt is a span below that of the attempt, with an event for each check, also
// one that finished after the record of the attempt. No span quotes the judged text.
func TestHookSpans_AreChildrenOfTheirAttempt(t *testing.T) {
	t.Parallel()
	c := newCollector()
	r := follow(t, otlp.Target{Endpoint: c.http(t), Protocol: otlp.HTTPProtobuf}, true)
	judged := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	a := r.attempt(func(a *record.Attempt) {
		a.Hooks = `{"before_request_hooks":[{"verdict":false,"id":"in","type":"guardrail","deny":true,"execution_time":20,"created_at":"2026-11-20T10:00:00Z","guardrail_version_id":"v1",` +
			`"checks":[{"id":"default.contains","verdict":false,"data":{"excerpt":"hidden"},"execution_time":5,"created_at":"2026-11-20T10:00:00Z"},{"id":"default.webhook","verdict":true,"error":{"name":"TimeoutError","message":"hidden"}}]}],` +
			`"after_request_hooks":[{"verdict":true,"id":"out","type":"guardrail","skipped":true,"checks":[]}]}`
	})
	require.NoError(t, r.journal.AppendHooks(&record.LateHooks{
		ID: a.ID, Entry: "entry", OrgID: a.OrgID, Started: a.Started, TraceID: a.TraceID, SpanID: a.SpanID,
		Hooks: `{"after_request_hooks":[{"verdict":true,"id":"late","type":"guardrail","async":true,"execution_time":9,"created_at":"2026-11-20T10:00:00Z"}]}`,
	}))
	spans, _ := r.spans(c, 4)
	parent, traceID := a.W3CSpan(), a.W3CTrace()
	byName := map[string]*trace.Span{}
	for _, s := range spans {
		byName[s.Name] = s
		assert.Equal(t, traceID[:], s.TraceId)
		assert.NotContains(t, s.String(), "hidden")
	}
	for name, want := range map[string]map[string]string{
		"guardrail in":   {"sluice.guardrail.id": "in", "sluice.guardrail.version": "v1", "sluice.guardrail.phase": "input", "sluice.guardrail.verdict": "failed", "sluice.guardrail.deny": "true (bool)"},
		"guardrail out":  {"sluice.guardrail.id": "out", "sluice.guardrail.phase": "output", "sluice.guardrail.verdict": "skipped"},
		"guardrail late": {"sluice.guardrail.id": "late", "sluice.guardrail.phase": "output", "sluice.guardrail.verdict": "passed", "sluice.guardrail.async": "true (bool)"},
	} {
		s := byName[name]
		require.NotNil(t, s, name)
		assert.Equal(t, hex.EncodeToString(parent[:]), hex.EncodeToString(s.ParentSpanId), name)
		assert.Equal(t, trace.Span_SPAN_KIND_INTERNAL, s.Kind, name)
		assert.Equal(t, want, texts(s.Attributes), name)
	}
	in := byName["guardrail in"]
	assert.Equal(t, []uint64{uint64(judged.UnixNano()), uint64(judged.Add(20 * time.Millisecond).UnixNano())}, []uint64{in.StartTimeUnixNano, in.EndTimeUnixNano})
	require.Len(t, in.Events, 2)
	assert.Equal(t, map[string]string{"sluice.guardrail.check": "default.contains", "sluice.guardrail.verdict": "failed", "sluice.guardrail.seconds": "0.005 (double)"}, texts(in.Events[0].Attributes))
	assert.Equal(t, "error", texts(in.Events[1].Attributes)["sluice.guardrail.verdict"])
}
