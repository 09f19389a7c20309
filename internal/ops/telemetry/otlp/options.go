package otlp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
)

// Options are common to all exports. All are required.
type Options struct {
	Target   Target
	Resource Resource
	Interval time.Duration // between messages; 0 means the usual one for the signal
	Tail     Tail
	Counters *DeliveryCounters
	Clock    ident.Clock
	Log      *slog.Logger
}

// Protocol is the transport of messages. Its values are those of OTEL_EXPORTER_OTLP_PROTOCOL.
type Protocol string

// The protocols.
const (
	HTTPProtobuf Protocol = "http/protobuf"
	HTTPJSON     Protocol = "http/json"
	GRPC         Protocol = "grpc"
)

// Target is a collector and how to connect to it.
type Target struct {
	// Endpoint is the URL of the collector: "http://collector:4318". Over HTTP the path of the
	// signal, /v1/traces, is appended unless present. Over gRPC the path is not used, and http://
	// means a connection without TLS.
	Endpoint string
	Protocol Protocol
	Headers  sealed.String // "api-key=secret,x-team=search", values percent-encoded; empty for none
	Timeout  time.Duration // of one try; 0 means 10 s
}

// maxPairs is the maximum number of headers or resource attributes in a setting.
const maxPairs = 64

// Pair is a name and its value.
type Pair struct{ Name, Value string }

// ParsePairs parses "k=v,k2=v2" with percent-encoded values, the format of the OTEL_ settings, at
// most 64 pairs. It skips empty parts. Errors name the pair, never its value.
// Source: https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables.
func ParsePairs(text string) ([]Pair, error) {
	var out []Pair
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("pair %d must be name=value with a percent-encoded value", len(out)+1)
		}
		if out = append(out, Pair{name, plain}); len(out) > maxPairs {
			return nil, fmt.Errorf("must not have more than %d pairs", maxPairs)
		}
	}
	return out, nil
}

// addHeaders adds the headers of the target to those of every message. The error names a header
// that cannot be sent: its decoded value may contain a line break.
func (t Target) addHeaders(to http.Header) error {
	pairs, err := ParsePairs(t.Headers.Reveal())
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if !httpguts.ValidHeaderFieldName(p.Name) || !httpguts.ValidHeaderFieldValue(p.Value) {
			return fmt.Errorf("%q is not a valid header name, or its value contains control characters", p.Name)
		}
		to.Set(p.Name, p.Value)
	}
	return nil
}

// signal is a type of telemetry.
type signal struct {
	name string // "traces"
	path string // over HTTP
	rpc  string // over gRPC
}

var (
	traces  = signal{"traces", "/v1/traces", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"}
	metrics = signal{"metrics", "/v1/metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"}
)

var errEndpoint = errors.New("the endpoint must be an http:// or https:// address")

// address returns the URL for messages of a signal.
func (t Target) address(s signal) (string, error) {
	u, err := url.Parse(t.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errEndpoint
	}
	if t.Protocol == GRPC {
		u.Path, u.RawPath = s.rpc, ""
		return u.String(), nil
	}
	if !strings.HasSuffix(u.Path, s.path) {
		u = u.JoinPath(s.path)
	}
	return u.String(), nil
}
