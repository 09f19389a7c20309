// Package spans_test sends spans of applications with the OpenTelemetry SDK to the receiver of spans.
package spans_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/catalog"
	"sluice/internal/ops/telemetry/spans"
	"sluice/internal/storage/journal"
)

// rig is a receiver that listens, and the journal that it writes.
type rig struct {
	*testing.T
	url     string
	records *journal.Records
}

const rawKey = "sk-of-the-workspace"

func listen(t *testing.T) *rig { return listenAt(t, &limiter{limit: 1 << 30}) }

// limiter lets in as much as it says, and remembers what that was.
type limiter struct{ limit, entries, bytes int }

// Take refuses when there was too much.
func (p *limiter) Take(string, time.Time) error {
	if p.entries >= p.limit {
		return fault.New(fault.RateLimited, "too many spans").WithRetry(7 * time.Second)
	}
	return nil
}

// Add counts.
func (p *limiter) Add(_ string, entries, bytes int, _ time.Time) {
	p.entries, p.bytes = p.entries+entries, p.bytes+bytes
}

func listenAt(t *testing.T, p *limiter) *rig {
	j, err := journal.Open(journal.Options{Dir: filepath.Join(t.TempDir(), "journal")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, j.Close()) })
	v := spans.New(spans.Parts{
		Identify: func(r *http.Request) (*access.Principal, error) {
			switch r.Header.Get("x-gateway-api-key") {
			case rawKey:
				return &access.Principal{Kind: access.ByKey, ID: "key-1", Name: "app", OrgID: "org-1", WorkspaceID: "ws-1", KeyType: access.WorkspaceService, Scopes: access.NewScopes(string(access.LogsWrite))}, nil
			case "reader":
				return &access.Principal{Kind: access.ByKey, OrgID: "org-1", WorkspaceID: "ws-1", KeyType: access.WorkspaceService, Scopes: access.NewScopes(string(access.LogsView))}, nil
			case "admin":
				return &access.Principal{Kind: access.ByKey, OrgID: "org-1", KeyType: access.OrganisationService, Scopes: access.NewScopes(string(access.LogsWrite))}, nil
			}
			return nil, fault.New(fault.Unauthenticated, "the API key is unknown")
		},
		Journal: j, Prices: catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin())),
		Refusal: func(f *fault.Error) (wire.Header, []byte) {
			return wire.Header{{Name: "content-type", Value: "application/json"}, {Name: "x-gateway-request-id", Value: "request-1"}}, f.Body(fault.Model)
		},
		RateLimiter: p, BodyLogBytes: 64 << 10, Clock: ident.System{},
	})
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/otel/v1/traces", v.Traces)
	mux.HandleFunc("/v1/otel/v1/logs", v.Logs)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return &rig{t, s.URL, j.Records()}
}

// all are the records that came so far, by the names of their spans.
func (r *rig) all() map[string]*record.Attempt {
	out := map[string]*record.Attempt{}
	r.records.Read(record.Position{}, func(e record.Entry) bool {
		a := e.Attempt
		c := *a
		c.Request.Bytes = bytes.Clone(a.Request.Bytes)
		out[a.SpanName] = &c
		return true
	})
	return out
}

// post sends a body and returns the status and the answer.
func (r *rig) post(path, typ, key string, body []byte, header ...string) (int, string) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, r.url+path, bytes.NewReader(body))
	require.NoError(r, err)
	req.Header.Set("Content-Type", typ)
	req.Header.Set("x-gateway-api-key", key)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r, err)
	defer func() { assert.NoError(r, resp.Body.Close()) }()
	response, err := io.ReadAll(resp.Body)
	require.NoError(r, err)
	return resp.StatusCode, string(response)
}

// A workspace that sends too much waits for as long as it is told, and nothing of what it sent
// too much is kept.
func TestAWorkspaceSendsAsMuchAsItMay(t *testing.T) {
	t.Parallel()
	sent := &limiter{limit: 2}
	r := listenAt(t, sent)
	body := []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[
		{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"one","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001000000000"},
		{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060709","name":"two","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001000000000"}]}]}]}`)
	for _, want := range []int{200, 429} {
		if status, text := r.post("/v1/otel/v1/traces", "application/json", rawKey, body); status != want {
			t.Errorf("%d %s, want %d", status, text, want)
		}
	}
	assert.Equal(t, limiter{limit: 2, entries: 2, bytes: len(body)}, *sent)
	assert.Len(t, r.all(), 2)
}

// The exporter of the official SDK is the client.
func TestWhatAnApplicationSends(t *testing.T) {
	t.Parallel()
	r := listen(t)
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(r.url+"/v1/otel/v1/traces"),
		otlptracehttp.WithHeaders(map[string]string{"x-gateway-api-key": rawKey}), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	require.NoError(t, err)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "shop"))))
	tracer := provider.Tracer("test")
	ctx, outer := tracer.Start(t.Context(), "checkout", trace.WithAttributes(attribute.Int("basket.items", 3)))
	_, inner := tracer.Start(ctx, "chat gpt-4o-mini", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.system", "openai"), attribute.String("gen_ai.request.model", "gpt-4o-mini"),
		attribute.String("gen_ai.response.model", "gpt-4o-mini-2024-07-18"), attribute.Int("gen_ai.usage.input_tokens", 1_000_000), attribute.Int("gen_ai.usage.output_tokens", 1_000_000)))
	inner.AddEvent("gen_ai.choice", trace.WithAttributes(attribute.String("finish_reason", "stop")))
	inner.End()
	_, tool := tracer.Start(ctx, "execute_tool search", trace.WithAttributes(attribute.String("gen_ai.operation.name", "execute_tool"), attribute.Int("http.response.status_code", 503)))
	tool.SetStatus(codes.Error, "away")
	tool.End()
	outer.End()
	require.NoError(t, provider.Shutdown(t.Context()))

	got := r.all()
	require.Len(t, got, 3)
	top, call, failed := got["checkout"], got["chat gpt-4o-mini"], got["execute_tool search"]
	id := outer.SpanContext()
	for _, a := range got {
		assert.Equal(t, id.TraceID().String(), a.TraceID)
		assert.Equal(t, record.FromOTLP, a.Source)
		assert.Equal(t, "org-1 ws-1 key-1", a.OrgID+" "+a.WorkspaceID+" "+a.KeyID)
		assert.Equal(t, "shop", a.Metadata["service.name"])
	}
	assert.Equal(t, id.SpanID().String(), top.SpanID)
	assert.Empty(t, top.ParentSpan)
	assert.Equal(t, top.SpanID, call.ParentSpan)
	assert.Equal(t, inner.SpanContext().SpanID().String(), call.SpanID)

	assert.Equal(t, llm.ChatComplete, call.Endpoint)
	assert.Equal(t, "openai gpt-4o-mini gpt-4o-mini-2024-07-18", call.Provider+" "+call.Model+" "+call.ResponseModel)
	assert.Equal(t, llm.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000, TotalTokens: 2_000_000, Reported: true}, call.Usage)
	nano, known := call.Cost()
	assert.True(t, known)
	assert.Equal(t, int64(750_000_000), nano, "0.15 and 0.60 dollars")
	assert.Equal(t, "finish_reason stop", "finish_reason "+firstEvent(t, call)["finish_reason"].(string))

	assert.Equal(t, record.OK, top.Outcome)
	assert.Empty(t, top.Model)
	assert.Equal(t, "failed 503", fmt.Sprint(failed.Outcome, " ", failed.Status))
	nano, known = top.Cost()
	assert.True(t, known && nano == 0, "a span without tokens costs nothing")
}

func firstEvent(t *testing.T, a *record.Attempt) map[string]any {
	var body struct {
		Events []struct{ Attributes map[string]any }
	}
	require.NoError(t, json.Unmarshal(a.Request.Bytes, &body))
	require.NotEmpty(t, body.Events)
	return body.Events[0].Attributes
}

// span is a message of JSON with one span; change has further members of it.
func span(members string) []byte {
	return fmt.Appendf(nil, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174","name":"one",
		"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001000000000"%s}]}]}]}`, members)
}

func TestJSONHasIDsInHex(t *testing.T) {
	t.Parallel()
	r := listen(t)
	status, response := r.post("/v1/otel/v1/traces", "application/json", rawKey, span(`,"parentSpanId":"eee19b7ec3c1b173","kind":3,"unknown":1,"attributes":[{"key":"a","value":{"intValue":"7"}}]`))
	assert.Equal(t, 200, status, response)
	assert.JSONEq(t, `{"partialSuccess":{}}`, response)
	a := r.all()["one"]
	require.NotNil(t, a)
	assert.Equal(t, "5b8efff798038103d269b633813fc60c eee19b7ec3c1b174 eee19b7ec3c1b173", a.TraceID+" "+a.SpanID+" "+a.ParentSpan)
	assert.Equal(t, time.Second, a.Duration)

	status, response = r.post("/v1/otel/v1/logs", "application/json", rawKey, []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1700000000000000000","severityText":"WARN",
		"body":{"stringValue":"slow"},"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}]}]}]}`))
	assert.Equal(t, 200, status, response)
	a = r.all()["WARN"]
	require.NotNil(t, a)
	assert.Equal(t, "5b8efff798038103d269b633813fc60c eee19b7ec3c1b174", a.TraceID+" "+a.ParentSpan)
	assert.Contains(t, string(a.Request.Bytes), `"body":"slow"`)
}

// Instrumentation that captures header lines and addresses sends credentials along; the
// log keeps none of them.
func TestCapturedCredentialsAreMasked(t *testing.T) {
	t.Parallel()
	r := listen(t)
	attributes := `[{"key":"http.request.header.authorization","value":{"arrayValue":{"values":[{"stringValue":"Bearer s3cr3t"}]}}},
		{"key":"http.request.header.X_Api_Key","value":{"stringValue":"s3cr3t"}},{"key":"http.response.header.set-cookie","value":{"stringValue":"a=s3cr3t"}},
		{"key":"http.request.header.accept","value":{"stringValue":"text/plain"}},{"key":"url.full","value":{"stringValue":"https://u:s3cr3t@example.com/?key=s3cr3t&page=2"}},
		{"key":"http.target","value":{"stringValue":"/v1?sig=s3cr3t"}},{"key":"url.query","value":{"stringValue":"api-key=s3cr3t&page=3"}},
		{"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}}]`
	status, text := r.post("/v1/otel/v1/traces", "application/json", rawKey, span(`,"attributes":`+attributes+`,"events":[{"name":"e","attributes":`+attributes+`}]`))
	require.Equal(t, 200, status, text)
	stored := string(r.all()["one"].Request.Bytes)
	assert.NotContains(t, stored, "s3cr3t")
	for _, want := range []string{`"http.request.header.accept":"text/plain"`, "https://***@example.com/?key=***", "page=2", `"/v1?sig=***"`, "page=3", `"gen_ai.usage.input_tokens":7`} {
		assert.Contains(t, stored, want)
	}
}

// Some senders write zeros where there is no parent. A log record without a valid id is of
// no trace, or no span, and is kept.
func TestIDsThatAreNone(t *testing.T) {
	t.Parallel()
	r := listen(t)
	status, response := r.post("/v1/otel/v1/traces", "application/json", rawKey, span(`,"parentSpanId":"0000000000000000"`))
	assert.Equal(t, 200, status, response)
	require.Contains(t, r.all(), "one")
	assert.Empty(t, r.all()["one"].ParentSpan)
	for name, ids := range map[string]string{
		"zeros": `"traceId":"00000000000000000000000000000000","spanId":"0000000000000000"`, "short": `"traceId":"5b8e","spanId":"eee1"`, "no hex": `"traceId":"nothexatall=","spanId":"zzzz"`,
	} {
		status, response = r.post("/v1/otel/v1/logs", "application/json", rawKey, fmt.Appendf(nil, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1700000000000000000","severityText":"%s",%s}]}]}]}`, name, ids))
		assert.Equal(t, 200, status, response)
		if a := r.all()[name]; assert.NotNil(t, a, name) {
			assert.Equal(t, a.ID+" ", a.TraceID+" "+a.ParentSpan, name)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	r := listen(t)
	attributes := func(n int, value string) string {
		one := `{"key":"k","value":{"stringValue":"` + value + `"}}`
		return `,"attributes":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]`
	}
	deep := strings.Repeat(`{"arrayValue":{"values":[`, 100) + strings.Repeat(`]}}`, 100)
	for _, c := range []struct {
		name, typ, key string
		body           []byte
		status         int
		message        string
	}{
		{"nobody", "application/json", "", span(""), 401, "unknown"},
		{"a key that may only read", "application/json", "reader", span(""), 403, "logs.write"},
		{"a key of no workspace", "application/json", "admin", span(""), 403, "workspace key"},
		{"text", "text/plain", rawKey, span(""), 400, "application/x-protobuf"},
		{"no message", "application/json", rawKey, []byte(`{"resourceSpans":7}`), 400, "not an OTLP message"},
		{"no protobuf", "application/x-protobuf", rawKey, []byte("\xff\xff\xff"), 400, "not an OTLP message"},
		{"10 MB in an attribute", "application/json", rawKey, span(attributes(1, strings.Repeat("x", 10<<20))), 413, "4194304 bytes"},
		{"a long text", "application/json", rawKey, span(attributes(1, strings.Repeat("x", 300<<10))), 400, "must not exceed 262144 bytes"},
		{"too many attributes", "application/json", rawKey, span(attributes(257, "x")), 400, "spans[0].attributes"},
		{"deep values", "application/json", rawKey, span(`,"attributes":[{"key":"k","value":` + deep + `}]`), 400, "more than 64 others"},
		{"a long name", "application/json", rawKey, span(`,"name":"` + strings.Repeat("n", 257) + `"`), 400, ""},
		{"a short id", "application/json", rawKey, bytes.Replace(span(""), []byte("5B8EFFF798038103D269B633813FC60C"), []byte("5B8E"), 1), 400, "hex digits"},
		{"an id of zeros", "application/json", rawKey, bytes.Replace(span(""), []byte("EEE19B7EC3C1B174"), []byte("0000000000000000"), 1), 400, "neither may be zero"},
		{"a short parent", "application/json", rawKey, span(`,"parentSpanId":"eee1"`), 400, "hex digits"},
		{"an end before the beginning", "application/json", rawKey, bytes.Replace(span(""), []byte("1700000001000000000"), []byte("1600000001000000000"), 1), 400, "nanoseconds since 1970"},
		{"of tomorrow", "application/json", rawKey, bytes.ReplaceAll(span(""), []byte(`"17000000`), []byte(`"87000000`)), 400, "nanoseconds since 1970"},
		{"too many spans", "application/x-protobuf", rawKey, spansOf(t, 10_001, 0), 400, "not have more than 10000 spans"},
		{"a large resource", "application/x-protobuf", rawKey, spansOf(t, 1, 65<<10), 400, "a resource must not exceed 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			status, response := r.post("/v1/otel/v1/traces", c.typ, c.key, c.body)
			assert.Equal(t, c.status, status, response)
			assert.Contains(t, response, c.message)
		})
	}
	t.Cleanup(func() { assert.Empty(t, r.all(), "of what is refused nothing is kept") })
}

// Who sends protobuf is refused in protobuf, whatever the reason.
func TestRefusalsHaveTheFormOfTheMessage(t *testing.T) {
	t.Parallel()
	r := listen(t)
	short, err := proto.Marshal(&collecttrace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{TraceId: []byte{1}}}}}}}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		key     string
		body    []byte
		status  int
		message string
	}{
		"nobody":     {"", nil, 401, "the API key is unknown"},
		"no message": {rawKey, []byte("\xff\xff\xff"), 400, "the body is not an OTLP message, or its values are nested in more than 64 others"},
		"too large":  {rawKey, make([]byte, 5<<20), 413, "an OTLP message must not exceed 4194304 bytes, also decompressed; send fewer spans at a time, or shorter attributes"},
		"a short id": {rawKey, short, 400, "a trace id must have 16 bytes, a span id 8, and neither may be zero; in JSON they are hex digits (resource_spans[0].scope_spans[0].spans[0])"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/otel/v1/traces", bytes.NewReader(c.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-protobuf")
			req.Header.Set("x-gateway-api-key", c.key)
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer func() { assert.NoError(t, resp.Body.Close()) }()
			response, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, c.status, resp.StatusCode)
			assert.Equal(t, "application/x-protobuf", resp.Header.Get("Content-Type"))
			assert.Equal(t, "request-1", resp.Header.Get("x-gateway-request-id"))
			var got status.Status
			require.NoError(t, proto.Unmarshal(response, &got))
			assert.Equal(t, c.message, got.GetMessage())
		})
	}
}

// spansOf is a message of protobuf with n spans, about a resource of so many bytes.
func spansOf(t *testing.T, n, bytes int) []byte {
	about := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{{Key: "k", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.Repeat("x", bytes)}}}}}
	list := make([]*tracepb.Span, n)
	for i := range list {
		list[i] = &tracepb.Span{TraceId: []byte("0123456789abcdef"), SpanId: []byte("01234567"), Name: "one", StartTimeUnixNano: 1, EndTimeUnixNano: 1}
	}
	raw, err := proto.Marshal(&collecttrace.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{Resource: about, ScopeSpans: []*tracepb.ScopeSpans{{Spans: list}}}}})
	require.NoError(t, err)
	return raw
}

// Every span is kept with its resource. That a small message makes many times its bytes must
// not take as much memory.
func TestALargeResourceTakesNoRoomPerSpan(t *testing.T) {
	const n, every = 2500, 500
	var stored, count, maxSpans int64
	before := heap()
	v := receiver(journalFunc(func(a *record.Attempt) error {
		stored += int64(len(a.Request.Bytes))
		if count++; count%every == 0 {
			maxSpans = max(maxSpans, heap()-before)
		}
		return nil
	}))
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(spansOf(t, n, 60<<10)))
	req.Header.Set("Content-Type", "application/x-protobuf")
	w := httptest.NewRecorder()
	v.Traces(w, req)
	assert.Equal(t, "200 application/x-protobuf ", fmt.Sprint(w.Code, " ", w.Header().Get("Content-Type"), " ", w.Body))
	assert.Greater(t, stored, int64(n*60<<10))
	assert.Less(t, maxSpans, int64(50<<20))
}

// heap is what is in use, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Where the journal takes some entries and not the others, the sender is told how many are
// lost, and does not send again what was kept; a message of which nothing is kept may come again.
func TestAJournalThatTakesSome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stored  int
		status  int
		message string
	}{
		{0, 503, "log ingestion is unavailable; retry shortly"},
		{1, 200, `"rejectedSpans":"2"`},
		{3, 200, `{"partialSuccess":{}}`},
	} {
		n := 0
		v := receiver(journalFunc(func(*record.Attempt) error {
			if n++; n > c.stored {
				return errors.New("full")
			}
			return nil
		}))
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(many(3)))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		v.Traces(w, req)
		assert.Equal(t, c.status, w.Code)
		assert.Contains(t, strings.ReplaceAll(w.Body.String(), " ", ""), strings.ReplaceAll(c.message, " ", ""))
	}
}

// many is a message of n spans.
func many(n int) []byte {
	head, rest, _ := bytes.Cut(span(""), []byte(`"spans":[`))
	one := bytes.TrimSuffix(rest, []byte(`]}]}]}`))
	all := bytes.TrimSuffix(bytes.Repeat(append(bytes.Clone(one), ','), n), []byte(","))
	return bytes.Join([][]byte{head, []byte(`"spans":[`), all, []byte(`]}]}]}`)}, nil)
}

// However many send at the same time, 32 messages are held; the others wait their turn.
func TestMessagesWaitTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun, stored atomic.Int32
		release := make(chan struct{})
		v := receiver(journalFunc(func(*record.Attempt) error { stored.Add(1); return nil }))
		var wg sync.WaitGroup
		for range 100 {
			body := &slowBody{Reader: bytes.NewReader(spansOf(t, 1, 0)), begun: &begun, release: release}
			wg.Go(func() {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
				req.Header.Set("Content-Type", "application/x-protobuf")
				v.Traces(httptest.NewRecorder(), req)
			})
		}
		synctest.Wait()
		assert.Equal(t, int32(32), begun.Load())
		close(release)
		wg.Wait()
		assert.Equal(t, int32(100), stored.Load())
	})
}

// slowBody is a body that comes once it is released.
type slowBody struct {
	*bytes.Reader
	begun   *atomic.Int32
	release chan struct{}
	once    sync.Once
}

func (b *slowBody) Read(p []byte) (int, error) {
	b.once.Do(func() { b.begun.Add(1) })
	<-b.release
	return b.Reader.Read(p)
}

// A small body that grows when it is inflated is bounded too.
func TestABombIsRefused(t *testing.T) {
	t.Parallel()
	r := listen(t)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, err := z.Write(make([]byte, 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	status, response := r.post("/v1/otel/v1/traces", "application/x-protobuf", rawKey, bomb.Bytes(), "Content-Encoding", "gzip")
	assert.Equal(t, 413, status, response)
	status, response = r.post("/v1/otel/v1/traces", "application/x-protobuf", rawKey, []byte("no gzip"), "Content-Encoding", "gzip")
	assert.Equal(t, 400, status, response)
	status, response = r.post("/v1/otel/v1/traces", "application/x-protobuf", rawKey, nil, "Content-Encoding", "br")
	assert.Equal(t, 400, status, response)
}

// Whatever is sent is answered with 200 or a refusal, and what is kept has ids.
func FuzzTraces(f *testing.F) {
	f.Add(span(""), true)
	f.Add(span(`,"attributes":[{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.usage.input_tokens","value":{"doubleValue":"NaN"}}]`), true)
	f.Add([]byte("\x0a\x00"), false)
	stored := func(a *record.Attempt) error {
		if _, err := hex.DecodeString(a.TraceID); err != nil || len(a.TraceID) != 32 || len(a.SpanID) != 16 || a.Usage.InputTokens < 0 {
			return fmt.Errorf("kept: %+v", a)
		}
		return nil
	}
	var wrong error
	v := receiver(journalFunc(func(a *record.Attempt) error { wrong = stored(a); return nil }))
	f.Fuzz(func(t *testing.T, body []byte, json bool) {
		req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", bytes.NewReader(body))
		req.Header.Set("Content-Type", map[bool]string{true: "application/json", false: "application/x-protobuf"}[json])
		w := httptest.NewRecorder()
		v.Traces(w, req)
		if w.Code >= 500 || wrong != nil {
			t.Fatal(w.Code, wrong)
		}
	})
}

// receiver takes from everybody, without a server.
func receiver(j spans.Journal) *spans.Receiver {
	return spans.New(spans.Parts{
		Identify: func(*http.Request) (*access.Principal, error) {
			return &access.Principal{Kind: access.ByKey, OrgID: "o", WorkspaceID: "w", Scopes: access.NewScopes(string(access.LogsWrite))}, nil
		},
		Journal: j, Prices: catalog.NewPriceList(catalog.New(ident.System{}, slog.New(slog.DiscardHandler), catalog.Builtin())),
		Refusal: func(f *fault.Error) (wire.Header, []byte) { return nil, []byte(f.Text()) }, RateLimiter: &limiter{limit: 1 << 30}, BodyLogBytes: 1 << 20, Clock: ident.System{},
	})
}

type journalFunc func(*record.Attempt) error

// Append calls the function.
func (f journalFunc) Append(a *record.Attempt) error { return f(a) }
