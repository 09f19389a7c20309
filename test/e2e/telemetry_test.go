package e2e

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"sluice/internal/test/upstream"
)

// One trace: an application's span above, the gateway's call below it. The collector gets
// the call, and the log shows both.
func TestTraceOfAnApplicationAndTheGateway(t *testing.T) {
	t.Parallel()
	collector, sent := collects(t)
	up := upstream.Start(t)
	g := start(t, collector)
	const trace, above, call = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "00f067aa0ba902b8"
	a := g.chat(append(custom(up), "traceparent: 00-"+trace+"-"+above+"-01")...).want(t, 200)
	assert.Equal(t, trace, a.Header.Get("x-gateway-trace-id"))

	select {
	case m := <-sent:
		assert.True(t, strings.HasPrefix(m, "/v1/traces "), m)
		for _, text := range []string{`"traceId":"` + trace + `"`, `"parentSpanId":"` + above + `"`, `"gen_ai.operation.name"`} {
			assert.Contains(t, strings.ReplaceAll(m, `": "`, `":"`), text)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("the collector got nothing")
	}

	began := strconv.FormatInt(time.Now().Add(-time.Minute).UnixNano(), 10)
	for base, name := range map[string]string{"/v1/otel/v1/traces": "checkout", "/v1/logs/otel": "other"} {
		g.call("POST", base, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"`+trace+`","spanId":"`+above+`","name":"`+name+`","startTimeUnixNano":"`+began+`","endTimeUnixNano":"`+began+`"},
			{"traceId":"`+trace+`","spanId":"`+call+`","parentSpanId":"`+above+`","name":"chat gpt-4o-mini","startTimeUnixNano":"`+began+`","endTimeUnixNano":"`+began+`","attributes":[
			{"key":"gen_ai.provider.name","value":{"stringValue":"openai"}},{"key":"gen_ai.request.model","value":{"stringValue":"gpt-4o-mini"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"1000000"}}]}]}]}]}`).want(t, 200)
	}
	eventually(t, logLimit, "the log shows the whole trace", func() bool {
		a = g.call("GET", "/v1/logs?trace_id="+trace, "")
		return a.get("data.#").Int() == 5
	})
	native := a.get(`data.#(source=="gateway")`)
	require.True(t, native.Exists(), a.Body)
	assert.Equal(t, above, native.Get("parent_span_id").String())
	reported := a.get(`data.#(span_name=="chat gpt-4o-mini")`)
	assert.Equal(t, "otlp openai gpt-4o-mini 1000000", strings.Join([]string{reported.Get("source").String(), reported.Get("ai_org").String(), reported.Get("ai_model").String(), reported.Get("total_units").String()}, " "))
	assert.InDelta(t, 15, reported.Get("cost").Float(), 1e-9, "cents: "+reported.Raw)
	refused := g.call("POST", "/v1/otel/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"`+strings.Repeat("x", 10<<20)+`"}]}]}]}`)
	assert.Equal(t, 413, refused.Status)
	assert.Contains(t, refused.Body, "4194304 bytes")
}

// collects starts a collector of spans; it returns the settings for it and its messages,
// each behind its path.
func collects(t *testing.T) (option, <-chan string) {
	t.Helper()
	sent := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if assert.NoError(t, err) {
			b, err := io.ReadAll(z)
			assert.NoError(t, err)
			sent <- r.URL.Path + " " + string(b)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(collector.Close)
	return with("EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED=ON", "OTEL_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"), sent
}

// A call that fails is followed by its trace id: through the answer, the line of the
// program's log, the entry of the request log with its error, and the span.
func TestOneTraceThroughEverything(t *testing.T) {
	t.Parallel()
	collector, sent := collects(t)
	g := start(t, collector, with("LOG_FORMAT=json", "LOG_LEVEL=info"))
	const trace, above = "5bf92f3577b34da6a3ce929d0e0e4736", "01f067aa0ba902b7"
	a := g.call("POST", "/v1/chat/completions", hello, "x-gateway-provider: openai", "authorization: Bearer sk-upstream-secret",
		"x-gateway-custom-host: http://127.0.0.1:1/v1", "traceparent: 00-"+trace+"-"+above+"-01")
	require.GreaterOrEqual(t, a.Status, 500, a.Body)
	assert.Equal(t, trace, a.Header.Get("x-gateway-trace-id"))
	id := a.Header.Get("x-gateway-request-id")

	var line gjson.Result
	eventually(t, logLimit, "the call is in the program's log", func() bool {
		for text := range strings.Lines(g.child.err.String()) {
			if l := gjson.Parse(text); l.Get("trace_id").String() == trace {
				line = l
			}
		}
		return line.Exists()
	})
	assert.Equal(t, "request "+id, line.Get("msg").String()+" "+line.Get("request_id").String())
	assert.Equal(t, int64(a.Status), line.Get("status").Int())
	assert.NotEmpty(t, line.Get("code").String(), line.Raw)

	eventually(t, logLimit, "the call is in the request log", func() bool {
		a = g.call("GET", "/v1/logs?trace_id="+trace, "")
		return a.get("data.#").Int() == 1
	})
	assert.Equal(t, id, a.get("data.0.request_id").String())
	assert.Equal(t, above, a.get("data.0.parent_span_id").String())
	assert.NotEmpty(t, a.get("data.0.error").String(), a.Body)

	deadline := time.After(60 * time.Second) // a failed attempt waits for another one first
	for {
		select {
		case m := <-sent:
			flat := strings.ReplaceAll(m, `": "`, `":"`)
			if !strings.Contains(flat, `"error.type"`) {
				continue
			}
			for _, text := range []string{`"traceId":"` + trace + `"`, `"parentSpanId":"` + above + `"`, id} {
				assert.Contains(t, flat, text)
			}
		case <-deadline:
			t.Fatal("the collector got no span with an error")
		}
		break
	}
	assert.NotContains(t, g.child.err.String(), "sk-upstream-secret")
}
