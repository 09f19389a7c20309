package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

const (
	// pingAfter is how long an HTTP/2 connection may be silent before a ping is sent, and
	// pingTimeout is how long the response to that may take.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

// multiplex starts HTTP/2 on a connection that has negotiated it, and reserves a stream on it.
// The transport made here serves only this connection.
func (h *host) multiplex(ctx context.Context, tc *tls.Conn) (*http.ClientConn, error) {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	tr := &http.Transport{
		DialTLSContext:         func(context.Context, string, string) (net.Conn, error) { return tc, nil },
		Protocols:              protocols,
		DisableCompression:     true,
		MaxResponseHeaderBytes: int64(h.c.opts.MaxHeadBytes),
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	cc, err := tr.NewClientConn(ctx, "https", h.addr)
	if err != nil {
		_ = tc.Close()
		return nil, err
	}
	return cc, h.add(cc)
}

// stream sends r on an HTTP/2 connection with a reserved stream. With an error, failurePhase
// states whether the upstream may have acted on r.
func (h *host) stream(ctx context.Context, cc *http.ClientConn, r *Request, t timing) (*Response, failurePhase, error) {
	ctx = r.detached(ctx)
	inner, cancel := context.WithCancelCause(ctx)
	s := &stream{cancel: cancel, idle: r.IdleTimeout, sent: newSource(r.Body)}
	s.cause = func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return context.Cause(inner)
	}
	s.watch = time.AfterFunc(forever, func() { cancel(ErrStalled) })
	s.watch.Stop()
	if !t.limit.IsZero() && r.Late == nil {
		headWatch := time.AfterFunc(time.Until(t.limit), func() { cancel(errHeadTimeout) })
		defer headWatch.Stop()
	}
	res, err := s.roundTrip(cc, r, r.standard(s.traced(inner), s.sent), t) //nolint:bodyclose // it is the body of the answer, which the caller closes
	if err != nil {
		if errors.Is(err, errLate) {
			return nil, perhapsActed, fault.Wrap(fault.UpstreamTimeout, errHeadTimeout)
		}
		l := s.classifyFailure(cc, err)
		if l != perhapsActed {
			h.drop(cc)
		}
		err = s.failure(err, noHead)
		s.end(err)
		return nil, l, err
	}
	return s.answered(res, r.Method), 0, nil
}

// answered returns the Response for res.
func (s *stream) answered(res *http.Response, method string) *Response {
	s.rc = res.Body
	length := res.ContentLength
	if bodyless(method, res.StatusCode) { // net/http reports a missing body when there is a Content-Length line
		length = 0
		s.end(io.EOF)
	}
	return &Response{Status: res.StatusCode, Header: lines(res.Header), Length: length, Body: s, Proto: "HTTP/2.0"}
}

// forever is the duration of a timer that is set to its real one later.
const forever = 1 << 62

// traced returns ctx with a trace that records the first response byte, even of an interim
// response. Otherwise net/http does not report interim responses.
func (s *stream) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { s.received.Store(true) }})
}

// classifyFailure returns the failurePhase of a request without a response.
func (s *stream) classifyFailure(cc *http.ClientConn, err error) failurePhase {
	var reset streamReset
	switch {
	case s.received.Load() || s.cause() != nil:
		return perhapsActed
	case errors.As(err, &reset):
		if reset.Code == refusedStream {
			return notActed
		}
		return perhapsActed
	case cc.Err() != nil || cc.Available() == 0: // closed, or going away
		return noResponse
	}
	return perhapsActed
}

// refusedStream is the error code of a stream that the peer did not process.
// Source: RFC 9113 section 8.7.
const refusedStream = 7

// streamReset is the type into which errors.As copies net/http's error for a stream reset. That
// type is not exported, but fills any type that has the same fields.
type streamReset struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error implements error.
func (streamReset) Error() string { return "the stream was reset" }

// standard returns r for net/http. The target is in URL.Opaque, which is sent unchanged; Path
// would be decoded and encoded again.
func (r *Request) standard(ctx context.Context, body *source) *http.Request {
	hd := make(http.Header, len(r.Header)+1)
	hd["User-Agent"] = nil // none is added
	nominated := r.Header.Get("connection")
	for _, f := range r.Header {
		if relayed(f.Name) && (nominated == "" || !syntax.HasToken(nominated, f.Name)) {
			hd[http.CanonicalHeaderKey(f.Name)] = append(hd[http.CanonicalHeaderKey(f.Name)], f.Value)
		}
	}
	hr := &http.Request{
		Method:        r.Method,
		URL:           &url.URL{Scheme: r.Scheme, Host: r.Host, Opaque: "//" + r.Host + r.Target},
		Host:          r.Host,
		Header:        hd,
		Body:          body,
		ContentLength: r.Body.Len(),
	}
	if r.Body.Len() == 0 {
		hr.Body = http.NoBody
	}
	return hr.WithContext(ctx)
}

// lines converts a header of net/http to a wire.Header.
func lines(hd http.Header) wire.Header {
	out := make(wire.Header, 0, len(hd)+4)
	for name, values := range hd {
		for _, v := range values {
			out = append(out, wire.Field{Name: strings.ToLower(name), Value: v})
		}
	}
	return out
}

// stream is the body of an HTTP/2 response.
type stream struct {
	rc       io.ReadCloser // nil without a response
	sent     *source
	idle     time.Duration
	watch    *time.Timer // ends the call; runs during a Read and at the end
	cancel   context.CancelCauseFunc
	cause    func() error // returns why the call was cancelled, nil when it was not
	received atomic.Bool  // the first byte of a response has arrived, even of an interim one
	err      error
}

// Read implements Body.
func (s *stream) Read(p []byte) (int, error) {
	if s.err != nil || len(p) == 0 {
		return 0, s.err
	}
	if s.idle > 0 {
		s.watch.Reset(s.idle)
	}
	n, err := s.rc.Read(p)
	s.watch.Stop()
	if err != nil && err != io.EOF {
		err = s.failure(err, noBody)
	}
	if err != nil {
		s.end(err)
	}
	return n, err
}

// Close implements Body.
func (s *stream) Close() error {
	s.end(errClosed)
	return nil
}

// end makes err the result of all further reads and releases the resources of the call.
func (s *stream) end(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	if s.rc != nil {
		// Close waits until the call's stream on the connection is free, so that the next call
		// can use it. While an upload is stalled, in its source or because the peer does not
		// read, it never becomes free. Then the watch ends the wait, which is not a failure.
		s.watch.Reset(finishTimeout)
		_ = s.rc.Close()
	}
	s.watch.Stop()
	s.cancel(nil)
	_ = s.sent.Close()
}

// failure returns the error to report for an error of the call.
func (s *stream) failure(err error, describe func(error) error) error {
	cause := s.cause()
	var broken *BodyError
	switch {
	case errors.Is(cause, errHeadTimeout):
		return fault.Wrap(fault.UpstreamTimeout, cause)
	case errors.Is(cause, ErrStalled):
		return ErrStalled
	case cause != nil:
		return cancelled(cause)
	case errors.As(err, &broken):
		return broken
	}
	return describe(err)
}

// source is the request's body as net/http reads it. After Close, a replayable body is not read
// any more, although net/http may still be sending it.
type source struct {
	replayable bool
	closed     atomic.Bool

	mu   sync.Mutex // guards r of a replayable body
	r    io.Reader
	left int64 // remaining bytes of the announced length; negative when there is none
}

func newSource(p wire.Payload) *source {
	return &source{replayable: p.Replayable(), r: p.Open(), left: p.Len()}
}

// Read implements io.Reader. It returns exactly the announced length or fails.
func (s *source) Read(p []byte) (int, error) {
	if s.replayable {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	switch {
	case s.closed.Load():
		return 0, errClosed
	case s.left == 0:
		return 0, io.EOF
	case s.left > 0:
		p = p[:min(int64(len(p)), s.left)]
	}
	n, err := s.r.Read(p)
	if s.left > 0 {
		s.left -= int64(n)
	}
	switch {
	case err == io.EOF && s.left > 0:
		err = &BodyError{io.ErrUnexpectedEOF}
	case err != nil && err != io.EOF:
		err = &BodyError{err}
	}
	return n, err
}

// Close implements io.Closer.
func (s *source) Close() error {
	s.closed.Store(true)
	if s.replayable {
		s.mu.Lock() // waits until a running Read has ended
		defer s.mu.Unlock()
	}
	return nil
}
