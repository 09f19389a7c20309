package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// scripted is a gateway that does what a test says.
type scripted func(ctx context.Context, req *wire.Request, out wire.Responder) error

func (s scripted) Serve(ctx context.Context, req *wire.Request, out wire.Responder) error {
	return s(ctx, req, out)
}

// echo answers with the request's method, target and body.
func echo(_ context.Context, req *wire.Request, out wire.Responder) error {
	text := []byte(req.Method + " " + req.Path + "?" + req.RawQuery + " " + req.Host + "\n")
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return err
		}
		text = append(text, b...)
	}
	return writeResponse(out, text)
}

func writeResponse(out wire.Responder, text []byte) error {
	if err := out.Head(200, wire.Header{{Name: "content-type", Value: "text/plain"}}, int64(len(text))); err != nil {
		return err
	}
	_, err := out.Write(text)
	return err
}

// isModelRoute is what the gateways of the tests serve; the rest is handed over.
func isModelRoute(_, path string, _ wire.Header) bool { return strings.HasPrefix(path, "/v1/") }

// complaints are what a server logs on level error.
type complaints struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// running is a server that serves on the loopback interface until the test ends.
type running struct {
	*server.Server
	addr string
	log  *complaints
	done chan error // of Serve
}

func start(t testing.TB, g scripted, change ...func(*server.Server)) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, l, g, change...)
}

func startOn(t testing.TB, l net.Listener, g scripted, change ...func(*server.Server)) *running {
	t.Helper()
	return startIn(context.WithoutCancel(t.Context()), t, l, g, change...)
}

// startIn is startOn for calls that end with a context.
func startIn(calls context.Context, t testing.TB, l net.Listener, g scripted, change ...func(*server.Server)) *running {
	t.Helper()
	r := &running{log: &complaints{}, done: make(chan error, 1)}
	r.Server = &server.Server{
		Gateway: g, IsModelRoute: isModelRoute, Patience: server.UsualTimeouts(),
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelError})),
		Rest: &http.Server{
			ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				_, _ = io.WriteString(w, "rest "+r.Proto+" "+r.Method+" "+r.RequestURI+" "+string(body))
			}),
		},
	}
	for _, c := range change {
		c(r.Server)
	}
	r.addr = l.Addr().String()
	go func() { r.done <- r.Serve(calls, l) }()
	t.Cleanup(func() {
		_ = r.Close()
		if err := <-r.done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return r
}

// client is a raw connection to a server.
type client struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func (r *running) dial(t testing.TB) *client {
	t.Helper()
	nc, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = nc.SetDeadline(time.Now().Add(30 * time.Second))
	t.Cleanup(func() { _ = nc.Close() })
	return &client{nc, t, bufio.NewReader(nc)}
}

func (c *client) send(text string) *client {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// response is one answer, read to its end.
type response struct {
	*http.Response
	text string
	err  error // of reading the body
}

func (c *client) readResponse(method string) response {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	b, err := io.ReadAll(resp.Body)
	return response{resp, string(b), err}
}

// closed fails the test unless the server closes without another byte.
func (c *client) closed() {
	c.t.Helper()
	if b, err := c.r.ReadByte(); err == nil {
		c.t.Errorf("more came: %q", b)
	} else if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
		c.t.Errorf("not closed: %v", err)
	}
}

// sendRaw sends everything, closes the sending side only when told to, and returns all that
// came back until the server closed.
func (r *running) sendRaw(t testing.TB, text string) string {
	t.Helper()
	c := r.dial(t).send(text)
	b, err := io.ReadAll(c.r)
	if err != nil {
		t.Errorf("%.60q: %v", text, err)
	}
	return string(b)
}

// post is a request with a body of announced length.
func post(path, body string, lines ...string) string {
	head := "POST " + path + " HTTP/1.1\r\nHost: gw\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	for _, l := range lines {
		head += l + "\r\n"
	}
	return head + "\r\n" + body
}

const get = "GET /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n"
