package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice/internal/kernel/ident"
)

// Limits of one try, and of a collector's response.
const (
	defaultTimeout   = 10 * time.Second
	maxResponseBytes = 1 << 20 // bytes
)

// client sends the messages of one signal to one collector. It is safe for concurrent use.
type client struct {
	address string
	target  Target
	header  http.Header
	http    *http.Client
	clock   ident.Clock
}

// newClient does not connect yet. close closes its connections.
func newClient(t Target, s signal, clock ident.Clock) (*client, error) {
	if t.Timeout == 0 {
		t.Timeout = defaultTimeout
	}
	address, err := t.address(s)
	if err != nil {
		return nil, err
	}
	c := &client{address: address, target: t, clock: clock, header: http.Header{
		"Content-Type": {contentTypes[t.Protocol]}, "User-Agent": {"sluice-otlp"},
	}}
	if err := t.addHeaders(c.header); err != nil {
		return nil, fmt.Errorf("headers: %w", err)
	}
	transport := &http.Transport{IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 1, TLSHandshakeTimeout: t.Timeout}
	if t.Protocol == GRPC {
		c.header.Set("Te", "trailers")
		c.header.Set("Grpc-Encoding", "gzip")
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetUnencryptedHTTP2(true)
	} else {
		c.header.Set("Content-Encoding", "gzip")
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the headers contain a credential for this address
	}}
	return c, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

var contentTypes = map[Protocol]string{HTTPProtobuf: "application/x-protobuf", HTTPJSON: "application/json", GRPC: "application/grpc"}

// refusal is the error of a collector that did not accept a message, or the reason why no
// collector was reached.
type refusal struct {
	text  string
	again bool          // it may be sent again
	after time.Duration // minimum delay; 0 or less if the collector did not specify one
	cause error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }

// send makes one try. It decodes the response, which may report partial success, into into. The
// error is a refusal, or that of ctx.
func (c *client) send(ctx context.Context, message, into proto.Message) error {
	body, err := c.encode(message)
	if err != nil {
		return &refusal{text: "cannot encode the message: " + err.Error(), cause: err}
	}
	ctx, stop := context.WithTimeout(ctx, c.target.Timeout)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return &refusal{text: err.Error(), cause: err}
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		return &refusal{text: "no response: " + err.Error(), again: true, cause: err}
	}
	defer func() { _ = resp.Body.Close() }() // the rest of the response is not needed
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxResponseBytes))
	if err != nil {
		return &refusal{text: "the response was cut off: " + err.Error(), again: true, cause: err}
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		return c.decode(resp, content, into)
	case resp.StatusCode/100 == 2 && c.target.Protocol != GRPC:
		return nil // accepted, by a collector that responds with another status; its body is not a message
	}
	return refusedOverHTTP(resp, content, c.clock.Now())
}

// encode returns a message, compressed, in the format of the protocol.
func (c *client) encode(message proto.Message) ([]byte, error) {
	marshal := proto.Marshal
	if c.target.Protocol == HTTPJSON {
		marshal = marshalJSON
	}
	plain, err := marshal(message)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if c.target.Protocol == GRPC {
		out.Write(make([]byte, framePrefix))
	}
	z := gzip.NewWriter(&out)
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if c.target.Protocol == GRPC {
		return framed(out.Bytes()), nil
	}
	return out.Bytes(), nil
}

var errResponse = errors.New("cannot read the response")

// decode reads the response of a collector that accepted the message.
func (c *client) decode(resp *http.Response, content []byte, into proto.Message) error {
	var err error
	switch c.target.Protocol {
	case GRPC:
		if r := refusedOverGRPC(resp); r != nil {
			return r
		}
		if content, err = unframed(content); err == nil {
			err = proto.Unmarshal(content, into)
		}
	case HTTPJSON:
		err = unmarshalJSON(content, into)
	default:
		err = proto.Unmarshal(content, into)
	}
	if err != nil { // it accepted the message: sending it again would duplicate it
		return &refusal{text: errResponse.Error() + ": " + err.Error(), cause: errors.Join(errResponse, err)}
	}
	return nil
}

// refusedOverHTTP classifies a status.
// Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response.
func refusedOverHTTP(resp *http.Response, content []byte, now time.Time) *refusal {
	r := &refusal{text: "status " + strconv.Itoa(resp.StatusCode) + ": " + clip(content)}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		r.again = true
	}
	r.after = retryAfter(resp.Header, now)
	return r
}

// retryAfter returns how long a collector wants the client to wait: in seconds, or until a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if s, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(s) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return until.Sub(now)
}

// clip prevents a response from filling the log.
func clip(content []byte) string { return strconv.Quote(string(content[:min(len(content), 200)])) }
