// Package otlp_test runs the exporter of spans and metrics against real collector servers: gRPC, and
// HTTP with protobuf and JSON.
package otlp_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collecttrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // as collectors have it
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// received is a message and the headers it came with.
type received struct {
	traces *collecttrace.ExportTraceServiceRequest
	header map[string]string
}

// collector is a receiver of OTLP that listens as a real one does: the service that the
// definition generates, over gRPC, and a server of HTTP.
type collector struct {
	collecttrace.UnimplementedTraceServiceServer
	got     chan received
	refuse  atomic.Int32  // how many messages are to come again
	with    error         // what that is said with over gRPC; nil means Unavailable
	after   func() string // what it asks to wait for over HTTP; nil means "1"
	never   atomic.Bool   // nothing is taken, ever
	later   atomic.Bool   // what is taken over HTTP is answered with 202 and no message
	partial atomic.Int64  // how many spans of each message are refused
}

func newCollector() *collector { return &collector{got: make(chan received, 100)} }

// Export takes what came over gRPC.
func (c *collector) Export(ctx context.Context, m *collecttrace.ExportTraceServiceRequest) (*collecttrace.ExportTraceServiceResponse, error) {
	if c.never.Load() {
		return nil, status.Error(codes.InvalidArgument, "not this")
	}
	if c.refuse.Add(-1) >= 0 {
		if c.with != nil {
			return nil, c.with
		}
		return nil, status.Error(codes.Unavailable, "in a moment")
	}
	h, _ := metadata.FromIncomingContext(ctx)
	flat := map[string]string{}
	for k, v := range h {
		flat[k] = v[0]
	}
	respond := c.response()
	c.got <- received{m, flat}
	return respond, nil
}

func (c *collector) patience() string {
	if c.after == nil {
		return "1"
	}
	return c.after()
}

// response is what is said of a message, as it was decided before the message is seen.
func (c *collector) response() *collecttrace.ExportTraceServiceResponse {
	return &collecttrace.ExportTraceServiceResponse{PartialSuccess: &collecttrace.ExportTracePartialSuccess{RejectedSpans: c.partial.Load(), ErrorMessage: "some"}}
}

// grpc listens and returns its address.
func (c *collector) grpc(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	collecttrace.RegisterTraceServiceServer(s, c)
	done := make(chan struct{})
	go func() { defer close(done); assert.NoError(t, s.Serve(l)) }()
	t.Cleanup(func() { s.Stop(); <-done })
	return "http://" + l.Addr().String()
}

// http listens for both forms of messages and returns its address.
func (c *collector) http(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "POST /v1/traces", r.Method+" "+r.URL.Path)
		assert.Equal(t, "gzip", r.Header.Get("Content-Encoding"))
		z, err := gzip.NewReader(r.Body)
		if !assert.NoError(t, err) {
			return
		}
		body, err := io.ReadAll(z)
		assert.NoError(t, err)
		m := new(collecttrace.ExportTraceServiceRequest)
		json := r.Header.Get("Content-Type") == "application/json"
		if json {
			assert.NoError(t, protojson.Unmarshal(body, m))
			hexIDs(t, m)
		} else {
			assert.Equal(t, "application/x-protobuf", r.Header.Get("Content-Type"))
			assert.NoError(t, proto.Unmarshal(body, m))
		}
		if c.never.Load() {
			http.Error(w, "not this", http.StatusBadRequest)
			return
		}
		if c.refuse.Add(-1) >= 0 {
			w.Header().Set("Retry-After", c.patience())
			http.Error(w, "in a moment", http.StatusServiceUnavailable)
			return
		}
		flat := map[string]string{}
		for k, v := range r.Header {
			flat[http.CanonicalHeaderKey(k)] = v[0]
		}
		respond := c.response()
		c.got <- received{m, flat}
		if c.later.Load() {
			http.Error(w, "thanks", http.StatusAccepted)
			return
		}
		out, err := proto.Marshal(respond)
		if json {
			out, err = protojson.Marshal(respond)
		}
		assert.NoError(t, err)
		_, _ = w.Write(out)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// hexIDs undoes what reading hex digits as base64 did: in OTLP's JSON, ids are in hex.
func hexIDs(t *testing.T, m *collecttrace.ExportTraceServiceRequest) {
	for _, r := range m.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				for _, id := range []*[]byte{&span.TraceId, &span.SpanId, &span.ParentSpanId} {
					plain, err := hex.DecodeString(base64.StdEncoding.EncodeToString(*id))
					assert.NoError(t, err)
					*id = plain
				}
			}
		}
	}
}
