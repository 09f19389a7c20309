package server_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http/httpguts"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// canned is a connection that delivers bytes in reads of at most step and ends.
type canned struct {
	data []byte
	step int
	sent bytes.Buffer
}

func (c *canned) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.data[:min(c.step, len(c.data))])
	c.data = c.data[n:]
	return n, nil
}

func (c *canned) Write(p []byte) (int, error)    { return c.sent.Write(p) }
func (*canned) Close() error                     { return nil }
func (*canned) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*canned) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*canned) SetDeadline(time.Time) error      { return nil }
func (*canned) SetReadDeadline(time.Time) error  { return nil }
func (*canned) SetWriteDeadline(time.Time) error { return nil }

// read is a request as one of both sides reads it.
type read struct {
	method, target, host string
	header               wire.Header
	body                 []byte
}

// serveAll returns the requests that come through whole, and what was handed over.
func serveAll(data []byte, step int) (through []read, rest []byte) {
	s := &server.Server{
		Gateway: scripted(func(_ context.Context, req *wire.Request, out wire.Responder) error {
			r := read{req.Method, req.Path, req.Host, req.Header.Clone(0), nil}
			if req.RawQuery != "" {
				r.target += "?" + req.RawQuery
			}
			if req.Body != nil {
				b, err := io.ReadAll(req.Body)
				if err != nil {
					return err
				}
				r.body = b
			}
			through = append(through, r)
			return writeResponse(out, nil)
		}),
		IsModelRoute: func(string, string, wire.Header) bool { return true }, Patience: server.UsualTimeouts(),
		Rest: &http.Server{MaxHeaderBytes: 64 << 10}, Log: slog.New(slog.DiscardHandler),
	}
	stop := s.OnHandover(func(b []byte) { rest = b })
	s.ServeOn(&canned{data: bytes.Clone(data), step: step})
	stop()
	return through, rest
}

// FuzzRequests holds the reader against net/http's: what is accepted here is accepted
// there too, with the same method, target, host, header and body, and the next request
// begins at the same byte. However the bytes are cut into reads, the result is the same,
// and what is handed over is what is left, with names in lower case.
//
// In one point net/http does differently on purpose: it adds Cache-Control to Pragma
// (RFC 7234), and takes the announcement of trailers out of the header.
func FuzzRequests(f *testing.F) {
	for _, text := range []string{
		get, chat, post("/v1/x", "hello") + get,
		"POST /v1/x HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0006 \r\n world\r\n0\r\nX-T: 1\r\n\r\n" + get,
		"GET /v1/x%zz HTTP/1.1\r\nHost: gw\r\n\r\n", "GET //a/b?c=d?e HTTP/1.1\r\nHost: gw\r\nX-A: \t b \r\nx-a:\r\n\r\n",
		"POST /v1/x HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET /v1/x HTTP/1.1\r\nHost: gw\r\nX-A: b\r\n c\r\n\r\n", "GET /v1/x HTTP/1.0\r\n\r\n", "GET http://gw/v1/x HTTP/1.1\r\nHost: gw\r\n\r\n",
		"GET /v1/x HTTP/1.1\nHost: gw\n\n", "GET /v1/x HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n" + get,
		"POST /v1/x HTTP/1.1\r\nHost: gw\r\nContent-Length: 05\r\nPragma: no-cache\r\n\r\nhello",
	} {
		f.Add([]byte(text), uint8(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		through, rest := serveAll(data, len(data)+1)
		chunked, over2 := serveAll(data, int(step)+1)
		if len(through) != len(chunked) || !bytes.Equal(rest, over2) {
			t.Fatalf("in one piece %d requests and %q; in pieces %d and %q", len(through), rest, len(chunked), over2)
		}
		if !bytes.HasSuffix(bytes.ToLower(data), bytes.ToLower(rest)) {
			t.Fatalf("handed over: %q", rest)
		}
		r := bufio.NewReader(bytes.NewReader(data))
		for i, got := range through {
			if p := chunked[i]; got.method != p.method || got.target != p.target || !bytes.Equal(got.body, p.body) {
				t.Fatalf("in one piece %+v; in pieces %+v", got, p)
			}
			compare(t, got, r)
		}
	})
}

// compare reads the next request with net/http.
func compare(t *testing.T, got read, r *bufio.Reader) {
	t.Helper()
	want, err := http.ReadRequest(r)
	if err != nil {
		t.Fatalf("accepted %+v, net/http: %v", got, err)
	}
	body, err := io.ReadAll(want.Body)
	if err != nil {
		t.Fatalf("accepted %+v, net/http reads the body: %v", got, err)
	}
	if got.method != want.Method || strings.TrimSuffix(got.target, "?") != strings.TrimSuffix(want.RequestURI, "?") || got.host != want.Host || !bytes.Equal(got.body, body) {
		t.Fatalf("%+v, net/http: %s %s %s %q", got, want.Method, want.RequestURI, want.Host, body)
	}
	if !httpguts.ValidHostHeader(got.host) {
		t.Fatalf("host %q", got.host)
	}
	n := 0
	for name, values := range want.Header {
		name = strings.ToLower(name)
		have := got.header.Values(name)
		if name == "cache-control" && got.header.Has("pragma") && len(have) == 0 {
			continue
		}
		n += len(values)
		if strings.Join(have, "\n") != strings.Join(values, "\n") {
			t.Fatalf("%s: %q, net/http: %q", name, have, values)
		}
	}
	if n += len(got.header.Values("trailer")); n != len(got.header) {
		t.Fatalf("%d lines, net/http: %d", len(got.header), n)
	}
}
