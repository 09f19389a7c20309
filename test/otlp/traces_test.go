package otlp_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice/internal/domain/record"
	"sluice/internal/domain/record/recordtest"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/telemetry"
	"sluice/internal/ops/telemetry/otlp"
	"sluice/internal/storage/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a journal, what follows it, and what it counts.
type rig struct {
	*testing.T
	journal   *journal.Journal
	records   *journal.Records
	registry  *telemetry.Registry
	stop      func()
	attempts  int
	logOutput bytes.Buffer // in the log; read behind stop
}

// follow sends what is appended to a collector.
func follow(t *testing.T, target otlp.Target, content bool) *rig {
	r, begin := prepare(t, target, content, 16<<10)
	begin()
	return r
}

// prepare is follow whose sender begins when it is told to. Records may have so many bytes.
func prepare(t *testing.T, target otlp.Target, content bool, maxRecord int) (r *rig, begin func()) {
	j, err := journal.Open(journal.Options{Dir: filepath.Join(t.TempDir(), "journal"), SegmentBytes: 4 * int64(maxRecord), MaxRecordBytes: maxRecord})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, j.Close()) })
	r = &rig{T: t, journal: j, records: j.Records(), registry: telemetry.NewRegistry()}
	target.Headers = sealed.New("X-Team=search,x-secret=a%2Cb")
	traces, err := otlp.NewTraces(otlp.TraceOptions{
		Options: otlp.Options{
			Target: target, Resource: otlp.Resource{Service: "sluice", Version: "1.0.0", Instance: "node-1", Attributes: "deployment.environment.name=test"},
			Interval: time.Millisecond, Tail: j.Tail(), Counters: otlp.NewDeliveryCounters(r.registry), Clock: ident.System{}, Log: slog.New(slog.NewTextHandler(&r.logOutput, nil)),
		},
		Content: content,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	return r, func() {
		go func() { defer close(done); assert.NoError(t, traces.Run(ctx)) }()
		r.stop = func() { cancel(); <-done }
		t.Cleanup(r.stop)
	}
}

// attempt appends one with a change.
func (r *rig) attempt(change func(*record.Attempt)) *record.Attempt {
	a := recordtest.Chat(r.attempts)
	r.attempts++
	change(a)
	require.NoError(r, r.journal.Append(a))
	return a
}

// spans takes messages until there are n spans, by the hex of their ids.
func (r *rig) spans(c *collector, n int) (map[string]*trace.Span, received) {
	r.Helper()
	out := map[string]*trace.Span{}
	var last received
	for len(out) < n {
		select {
		case last = <-c.got:
		case <-r.Context().Done():
			r.Fatalf("%d spans came of %d", len(out), n)
		}
		for _, rs := range last.traces.ResourceSpans {
			assert.Equal(r, "sluice", texts(rs.Resource.Attributes)["service.name"])
			assert.Equal(r, "test", texts(rs.Resource.Attributes)["deployment.environment.name"])
			for _, s := range rs.ScopeSpans[0].Spans {
				out[hex.EncodeToString(s.SpanId)] = s
			}
		}
	}
	return out, last
}

// texts are attributes with their types: integers as "120 (int)".
func texts(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[kv.Key] = fmt.Sprintf("%d (int)", v.IntValue)
		case *common.AnyValue_DoubleValue:
			out[kv.Key] = fmt.Sprintf("%g (double)", v.DoubleValue)
		case *common.AnyValue_BoolValue:
			out[kv.Key] = fmt.Sprintf("%t (bool)", v.BoolValue)
		}
	}
	return out
}

// metric is the value of a metric, with its labels as they are written.
func (r *rig) metric(name string) string {
	w := httptest.NewRecorder()
	r.registry.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// protocols are the ways to a collector.
func protocols(t *testing.T, c *collector) map[otlp.Protocol]otlp.Target {
	return map[otlp.Protocol]otlp.Target{
		otlp.HTTPProtobuf: {Endpoint: c.http(t), Protocol: otlp.HTTPProtobuf},
		otlp.HTTPJSON:     {Endpoint: c.http(t) + "/v1/traces", Protocol: otlp.HTTPJSON},
		otlp.GRPC:         {Endpoint: c.grpc(t), Protocol: otlp.GRPC},
	}
}

// What a collector gets: names, types, ids and who hangs below whom.
func TestSpansAsACollectorGetsThem(t *testing.T) {
	t.Parallel()
	for _, p := range []otlp.Protocol{otlp.HTTPProtobuf, otlp.HTTPJSON, otlp.GRPC} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			c := newCollector()
			r := follow(t, protocols(t, c)[p], false)
			const traceID, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
			inTrace := func(a *record.Attempt) { a.TraceID, a.ParentSpan, a.RequestID = traceID, parent, "request-1" }
			r.attempt(func(a *record.Attempt) { a.Source = record.FromAPI }) // not ours to tell
			alone := r.attempt(func(a *record.Attempt) {
				inTrace(a)
				a.SpanID, a.Spend = "a0a1a2a3a4a5a6a7", record.Spend{State: "settled", Cost: 1_500_000}
			})
			first := r.attempt(func(a *record.Attempt) {
				inTrace(a)
				a.RequestID, a.Outcome, a.Status, a.Upstream, a.Usage.Reported = "request-2", record.Failed, 503, 503, false
				a.Provider, a.UpstreamURL = "bedrock", "https://bedrock.local:8443/model/x"
			})
			second := r.attempt(func(a *record.Attempt) { inTrace(a); a.RequestID, a.Number = "request-2", 1 })

			spans, last := r.spans(c, 4)
			if assert.Len(t, spans, 4) {
				s := spans["a0a1a2a3a4a5a6a7"]
				require.NotNil(t, s, "the caller's span id is taken over")
				assert.Equal(t, traceID, hex.EncodeToString(s.TraceId))
				assert.Equal(t, parent, hex.EncodeToString(s.ParentSpanId))
				assert.Equal(t, "chat gpt-4o-mini", s.Name)
				assert.Equal(t, trace.Span_SPAN_KIND_CLIENT, s.Kind)
				assert.Equal(t, uint64(alone.Started.UnixNano()), s.StartTimeUnixNano)
				assert.Equal(t, uint64(alone.Started.Add(alone.Duration).UnixNano()), s.EndTimeUnixNano)
				assert.Nil(t, s.Status)
				got := texts(s.Attributes)
				for name, want := range map[string]string{
					"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini",
					"gen_ai.response.model": "gpt-4o-mini-2024-07-18", "gen_ai.usage.input_tokens": "120 (int)", "gen_ai.usage.output_tokens": "48 (int)",
					"server.address": "api.openai.com", "http.response.status_code": "200 (int)", "sluice.cost.dollars": "0.0015 (double)",
					"sluice.request.id": "request-1", "error.type": "", "sluice.request.body": "",
				} {
					assert.Equal(t, want, got[name], name)
				}

				one, two := spans[attemptSpanID(first)], spans[attemptSpanID(second)]
				require.NotNil(t, one)
				require.NotNil(t, two)
				assert.Equal(t, one.ParentSpanId, two.ParentSpanId, "both hang below their request")
				above := spans[hex.EncodeToString(one.ParentSpanId)]
				require.NotNil(t, above, "which has a span of its own")
				assert.Equal(t, parent, hex.EncodeToString(above.ParentSpanId))
				assert.Equal(t, trace.Span_SPAN_KIND_SERVER, above.Kind)
				assert.Equal(t, "POST /v1/chat/completions", above.Name)
				assert.Equal(t, one.StartTimeUnixNano, above.StartTimeUnixNano)
				assert.Equal(t, two.EndTimeUnixNano, above.EndTimeUnixNano)
				assert.Nil(t, above.Status, "it ended well")
				assert.Equal(t, trace.Status_STATUS_CODE_ERROR, one.Status.GetCode())
				got = texts(one.Attributes)
				assert.Equal(t, "503", got["error.type"])
				assert.Equal(t, "aws.bedrock", got["gen_ai.provider.name"])
				assert.Equal(t, "bedrock.local 8443 (int)", got["server.address"]+" "+got["server.port"])
			}
			team, secret := "X-Team", "X-Secret"
			if p == otlp.GRPC {
				team, secret = "x-team", "x-secret"
			}
			assert.Equal(t, "search", last.header[team])
			assert.Equal(t, "a,b", last.header[secret])
			r.stop()
			assert.Equal(t, "4", r.metric(`sluice_otlp_sent_total{signal="traces"}`))
		})
	}
}

func attemptSpanID(a *record.Attempt) string {
	id := a.W3CSpan()
	return hex.EncodeToString(id[:])
}

// An attempt that failed and stayed the only one has no span of a request above it; it is
// sent at the end at the latest.
func TestALoneFailureHasOneSpan(t *testing.T) {
	t.Parallel()
	c := newCollector()
	r := follow(t, otlp.Target{Endpoint: c.http(t), Protocol: otlp.HTTPProtobuf}, true)
	a := r.attempt(func(a *record.Attempt) { a.Outcome, a.Status = record.Timeout, 408 })
	r.stop()
	spans, _ := r.spans(c, 1)
	s := spans[attemptSpanID(a)]
	require.NotNil(t, s)
	assert.Empty(t, s.ParentSpanId)
	got := texts(s.Attributes)
	assert.Equal(t, "timeout", got["error.type"])
	assert.Contains(t, got["sluice.request.body"], "what is the tide at the lock today?", "content was asked for")
	assert.Contains(t, got["sluice.response.body"], "The water stands at")
}

// A collector that asks for patience gets the message again; one that refuses it for good
// does not, and what is lost is counted.
func TestWhatACollectorDoesNotTake(t *testing.T) {
	t.Parallel()
	for _, p := range []otlp.Protocol{otlp.HTTPProtobuf, otlp.HTTPJSON, otlp.GRPC} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			c := newCollector()
			c.refuse.Store(1)
			r := follow(t, protocols(t, c)[p], false)
			r.attempt(func(*record.Attempt) {})
			spans, _ := r.spans(c, 1)
			assert.Len(t, spans, 1)

			c.partial.Store(1)
			r.attempt(func(*record.Attempt) {})
			r.spans(c, 1)
			r.stop()
			assert.Equal(t, "1", r.metric(`sluice_otlp_sent_total{signal="traces"}`))
			assert.Equal(t, "1", r.metric(`sluice_otlp_dropped_total{reason="refused",signal="traces"}`))
		})
	}
	t.Run("taken for later", func(t *testing.T) { // as many services of observability answer
		t.Parallel()
		c := newCollector()
		c.later.Store(true)
		r := follow(t, otlp.Target{Endpoint: c.http(t), Protocol: otlp.HTTPProtobuf}, false)
		r.attempt(func(*record.Attempt) {})
		r.spans(c, 1)
		r.stop()
		assert.Equal(t, "1", r.metric(`sluice_otlp_sent_total{signal="traces"}`))
	})
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		c := newCollector()
		c.never.Store(true)
		r := follow(t, otlp.Target{Endpoint: c.grpc(t), Protocol: otlp.GRPC}, false)
		r.attempt(func(*record.Attempt) {})
		r.stop()
		assert.Equal(t, "1", r.metric(`sluice_otlp_dropped_total{reason="refused",signal="traces"}`))
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		r := follow(t, otlp.Target{Endpoint: "http://127.0.0.1:1", Protocol: otlp.HTTPProtobuf}, false)
		r.attempt(func(*record.Attempt) {})
		r.stop()
		assert.Equal(t, "1", r.metric(`sluice_otlp_dropped_total{reason="failed",signal="traces"}`))
		assert.Contains(t, r.logOutput.String(), `msg="shutting down with undelivered OTLP data" signal=traces items=1`)
	})
}

// A collector that is out of something is asked again where it says when, and not before;
// one that does not say so has refused for good.
func TestACollectorSaysWhenToComeAgain(t *testing.T) {
	t.Parallel()
	exhausted := func(details ...protoadapt.MessageV1) error {
		s, err := status.New(codes.ResourceExhausted, "no room").WithDetails(details...)
		require.NoError(t, err)
		return s.Err()
	}
	later := &errdetails.RetryInfo{RetryDelay: durationpb.New(2 * time.Second)}
	for name, c := range map[string]struct {
		with  error         // over gRPC
		after func() string // over HTTP
		wait  time.Duration
		taken bool
	}{
		"exhausted, with a time":   {exhausted(&errdetails.DebugInfo{Detail: "queue"}, later), nil, 2 * time.Second, true},
		"exhausted, without one":   {exhausted(&errdetails.DebugInfo{Detail: "queue"}), nil, 0, false},
		"exhausted, without words": {exhausted(), nil, 0, false},
		"seconds":                  {nil, func() string { return "2" }, 2 * time.Second, true},
		"a date":                   {nil, func() string { return time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat) }, 2 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, began := newCollector(), time.Now()
			to.with, to.after = c.with, c.after
			to.refuse.Store(1)
			target := otlp.Target{Endpoint: to.http(t), Protocol: otlp.HTTPProtobuf}
			if c.with != nil {
				target = otlp.Target{Endpoint: to.grpc(t), Protocol: otlp.GRPC}
			}
			r := follow(t, target, false)
			r.attempt(func(*record.Attempt) {})
			if c.taken {
				r.spans(to, 1)
				assert.GreaterOrEqual(t, time.Since(began), c.wait)
				return
			}
			r.stop()
			assert.Equal(t, "1", r.metric(`sluice_otlp_dropped_total{reason="refused",signal="traces"}`))
		})
	}
}

// What a value of percent-encoding stands for may be no header; that is said at the start.
func TestHeadersThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, headers := range []string{"x-key=a%0Ab", "x-key=a%0D%0Ax-other: b", "x-key=%00", "x key=1", "x:key=1"} {
		_, err := otlp.NewTraces(otlp.TraceOptions{Options: otlp.Options{
			Target: otlp.Target{Endpoint: "http://127.0.0.1:1", Headers: sealed.New(headers)}, Tail: new(journal.Tail), Clock: ident.System{},
		}})
		if assert.Error(t, err, headers) {
			name, _, _ := strings.Cut(headers, "=")
			assert.Contains(t, err.Error(), "headers: "+strconv.Quote(name))
			assert.NotContains(t, err.Error(), "x-other")
		}
	}
}

// A collector takes 4 MiB over gRPC, unless it was told otherwise: spans with bodies come in
// as many messages as that makes.
func TestMessagesAreNoLargerThanACollectorTakes(t *testing.T) {
	t.Parallel()
	c := newCollector()
	r, begin := prepare(t, otlp.Target{Endpoint: c.grpc(t), Protocol: otlp.GRPC}, true, 48<<10)
	const calls = 300
	for range calls {
		r.attempt(func(a *record.Attempt) {
			a.Request.Bytes, a.Response.Bytes = []byte(strings.Repeat("question ", 2000)), []byte(strings.Repeat("answer ", 2500))
		})
	}
	begin()
	r.stop()
	require.Equal(t, "300", r.metric(`sluice_otlp_sent_total{signal="traces"}`))
	spans, _ := r.spans(c, calls)
	assert.Len(t, spans, calls)
}

// Following the journal does not keep it: what was deleted meanwhile is counted.
func TestTheJournalGoesOnWithoutACollector(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(journal.Options{Dir: filepath.Join(t.TempDir(), "journal"), SegmentBytes: 64 << 10, MaxRecordBytes: 16 << 10})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, j.Close()) })
	c, registry, records := newCollector(), telemetry.NewRegistry(), j.Records()
	traces, err := otlp.NewTraces(otlp.TraceOptions{Options: otlp.Options{
		Target: otlp.Target{Endpoint: c.http(t), Protocol: otlp.HTTPProtobuf}, Interval: time.Millisecond, Tail: j.Tail(),
		Counters: otlp.NewDeliveryCounters(registry), Clock: ident.System{}, Log: slog.New(slog.DiscardHandler),
	}})
	require.NoError(t, err)
	for n := range 200 {
		require.NoError(t, j.Append(recordtest.Chat(n)))
	}
	end := records.Read(record.Position{}, func(record.Entry) bool { return true })
	require.NoError(t, records.Trim(end))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, traces.Run(ctx)) // sends what is left and ends
	r := &rig{T: t, registry: registry}
	var sent, missed int
	_, err = fmt.Sscan(r.metric(`sluice_otlp_sent_total{signal="traces"}`)+" "+r.metric(`sluice_otlp_dropped_total{reason="missed",signal="traces"}`), &sent, &missed)
	require.NoError(t, err)
	assert.Equal(t, 200, sent+missed)
	assert.Positive(t, sent)
	assert.Positive(t, missed)
}
