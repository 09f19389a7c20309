package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// stream sends an event at once and the last one when told to.
func stream(proceed <-chan struct{}) scripted {
	return func(ctx context.Context, _ *wire.Request, out wire.Responder) error {
		if err := out.Head(200, nil, -1); err != nil {
			return err
		}
		_, _ = out.Write([]byte("first\n"))
		if err := out.Flush(); err != nil {
			return err
		}
		select {
		case <-proceed:
		case <-ctx.Done():
			return ctx.Err()
		}
		_, err := out.Write([]byte("last\n"))
		return err
	}
}

// begun opens a stream and reads its first event.
func begun(t testing.TB, s *running) *http.Response {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	resp, err := (&http.Client{Transport: tr}).Get("http://" + s.addr + "/v1/x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if _, err := io.ReadFull(resp.Body, make([]byte, len("first\n"))); err != nil {
		t.Fatal(err)
	}
	return resp
}

// A server that is to stop takes nobody new, closes who waits, at both servers, and lets
// streams run to their end.
func TestShutdown(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	s := start(t, stream(proceed))
	resp := begun(t, s)
	idle, rest, piped := s.dial(t), s.dial(t).send("GET /health HTTP/1.1\r\nHost: gw\r\n\r\n"), s.dial(t)
	rest.readResponse("GET")
	piped.send(get)
	piped.r.ReadString('\n')
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(t.Context()) }()
	rest.closed()
	for { // until the listener is closed
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			break
		}
		_ = c.Close()
	}
	select {
	case err := <-stopped:
		t.Fatalf("it stopped in the middle of a stream: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(proceed)
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "last\n" {
		t.Errorf("the stream ends with %q %v", b, err)
	}
	idle.send(get) // it was not unused for long enough
	if got := idle.readResponse("GET"); got.text != "first\nlast\n" || !got.Close {
		t.Errorf("%q, close %v", got.text, got.Close)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A server that is to be left takes connections and requests as before, at both servers, and
// each answer is the last of its connection.
func TestLeave(t *testing.T) {
	t.Parallel()
	s := start(t, echo)
	existing := s.dial(t).send(get)
	if existing.readResponse("GET").Close {
		t.Fatal("the connection ends before anybody is to leave")
	}
	s.DrainConnections()
	late := s.dial(t)
	for name, c := range map[string]*client{"kept": existing, "new": late} {
		if got := c.send(get).readResponse("GET"); got.StatusCode != 200 || !got.Close {
			t.Errorf("%s: %d, close %v", name, got.StatusCode, got.Close)
		}
		c.closed()
	}
	if got := s.dial(t).send("GET /health HTTP/1.1\r\nHost: gw\r\n\r\n").readResponse("GET"); got.StatusCode != 200 || !got.Close {
		t.Errorf("the rest: %d, close %v", got.StatusCode, got.Close)
	}
}

// Over HTTP/2 a client that is to leave comes back by another connection.
func TestLeaveHTTP2(t *testing.T) {
	t.Parallel()
	s := start(t, echo, withTLS)
	c := secureClient(t, true)
	reused := func() (again bool) {
		trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { again = i.Reused }}
		req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "GET", "https://"+s.addr+"/v1/x", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.ProtoMajor != 2 || resp.StatusCode != 200 {
			t.Errorf("%s %s", resp.Proto, resp.Status)
		}
		return again
	}
	reused()
	if !reused() {
		t.Error("a connection is not used again, though nobody is to leave")
	}
	s.DrainConnections()
	reused() // which is told to be the last

	for late := time.Now().Add(10 * time.Second); reused(); time.Sleep(time.Millisecond) { // until the client has heard of it
		if time.Now().After(late) {
			t.Fatal("the connection is used on and on")
		}
	}
}

// What outlasts the limit is cut, and its call ends.
func TestShutdownCuts(t *testing.T) {
	t.Parallel()
	s := start(t, stream(nil))
	resp := begun(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the client was told that the stream was whole")
	}
}

// An unused connection is closed at once.
func TestShutdownClosesUnused(t *testing.T) {
	t.Parallel()
	s := start(t, echo)
	c := s.dial(t).send(get)
	c.readResponse("GET")
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	c.closed()
}

// Where the end of the calls' context has the gateway finish its answers, they reach their
// clients whole, at both servers, also a client that has sent more than is read.
func TestEndedCallsAreAnswered(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"alone":        get,
		"with another": get + get,
		"handed over":  "GET /health HTTP/1.0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			calls, end := context.WithCancel(t.Context())
			s := startIn(calls, t, l, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
				_ = stream(nil)(ctx, req, out) // it ends with the context
				_, err := out.Write([]byte("the end\n"))
				return err
			}, func(s *server.Server) {
				s.Rest.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, "first\n")
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
					_, _ = io.WriteString(w, "the end\n")
				})
			})
			c := s.dial(t).send(request)
			resp, err := http.ReadResponse(c.r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(resp.Body, make([]byte, len("first\n"))); err != nil {
				t.Fatal(err)
			}
			end()
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "the end\n" {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}
