package nethttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/internal/gateway/realtime"
	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// scripted is a gateway that does what a test says.
type scripted func(ctx context.Context, req *wire.Request, out wire.Responder) error

func (s scripted) Serve(ctx context.Context, req *wire.Request, out wire.Responder) error {
	return s(ctx, req, out)
}

func (scripted) Realtime(context.Context, *wire.Request, realtime.Client) error { return nil }

// impatient waits a short time.
var impatient = server.ClientTimeouts{Idle: 100 * time.Millisecond, Grace: 400 * time.Millisecond, Rate: 1 << 20, WriteStall: 200 * time.Millisecond}

func serve(t *testing.T, p server.ClientTimeouts, s scripted) net.Conn {
	t.Helper()
	srv := httptest.NewServer(&Handler{s, p})
	t.Cleanup(srv.Close)
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c
}

// A body that stops, or comes in drops, ends the request; one that keeps coming, and
// one that the gateway itself takes its time for, does not.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		send  func(c net.Conn)
		ready int           // bytes that come before each read of the gateway
		pause time.Duration // of the gateway between two reads
		slow  bool
	}{
		{name: "whole", ready: 64},
		{name: "stopped", slow: true, send: func(c net.Conn) { _, _ = io.WriteString(c, "a") }},
		{name: "nothing", slow: true, send: func(net.Conn) {}},
		{name: "drops", slow: true, send: func(c net.Conn) {
			for range 63 {
				if _, err := io.WriteString(c, "a"); err != nil {
					return
				}
				time.Sleep(30 * time.Millisecond)
			}
		}},
		{name: "slow gateway", ready: 16, pause: 150 * time.Millisecond},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			var c net.Conn
			dialled := make(chan struct{})
			c = serve(t, impatient, func(_ context.Context, req *wire.Request, out wire.Responder) error {
				var err error
				<-dialled
				for buf, left := make([]byte, 16), 64; err == nil; time.Sleep(tc.pause) {
					n := min(tc.ready, left) // from here, so that no read waits for a slow machine
					left -= n
					_, _ = io.WriteString(c, strings.Repeat("a", n))
					_, err = req.Body.Read(buf)
				}
				ended <- err
				return out.Head(200, nil, 0)
			})
			_, _ = io.WriteString(c, "POST /v1/x HTTP/1.1\r\nHost: gw\r\nContent-Length: 64\r\n\r\n")
			close(dialled)
			if tc.send != nil {
				go tc.send(c)
			}
			if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) != tc.slow || !tc.slow && err != io.EOF {
				t.Errorf("%v", err)
			}
		})
	}
}

// A client that takes nothing of a stream is left; one that reads on is not, and its
// connection serves the next request after the limit of the first has passed.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	p := impatient
	p.WriteStall = time.Second // a client on a slow machine takes a while to read on
	ended := make(chan error, 4)
	stream := func(_ context.Context, req *wire.Request, out wire.Responder) error {
		if req.Path == "/v1/short" {
			return out.Head(200, nil, 0)
		}
		if err := out.Head(200, nil, -1); err != nil {
			return err
		}
		chunk := bytes.Repeat([]byte("data: x\n\n"), 4<<10)
		var err error
		for i := 0; i < 400 && err == nil; i++ {
			if _, err = out.Write(chunk); err == nil {
				err = out.Flush()
			}
		}
		ended <- err
		return err
	}
	c := serve(t, p, stream)
	_, _ = io.WriteString(c, "GET /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a client that reads nothing: %v", err)
	}

	c = serve(t, p, stream)
	r := bufio.NewReader(c)
	for _, path := range []string{"/v1/x", "/v1/short"} {
		_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: gw\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		time.Sleep(p.WriteStall + p.WriteStall/4)
	}
}
