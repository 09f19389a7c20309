// Package listen serves a gateway of a test as the program serves its own: through the
// HTTP/1.1 server, with net/http for the rest.
package listen

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/gateway"
	"sluice/internal/gateway/nethttp"
	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// Server is a gateway that listens.
type Server struct {
	URL  string // "http://127.0.0.1:41234"
	Addr string // "127.0.0.1:41234"
}

// Start serves a gateway on the loopback interface until the test ends. The test fails
// when a goroutine that served it panicked.
func Start(t testing.TB, g *gateway.Gateway) *Server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	errorLog := &complaints{}
	s := &server.Server{
		Gateway: g, Patience: server.UsualTimeouts(), Log: slog.New(slog.NewTextHandler(errorLog, nil)),
		IsModelRoute: func(string, string, wire.Header) bool { return true },
		Rest: &http.Server{
			Handler: nethttp.New(g), ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
			ErrorLog: log.New(errorLog, "", 0),
		},
	}
	done, ctx := make(chan error, 1), context.WithoutCancel(t.Context()) // a fuzz test may not be asked for it later
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the server: %v", err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended with %v", err)
		}
		if text := errorLog.String(); strings.Contains(text, "panic") {
			t.Errorf("the server says: %s", text)
		}
	})
	return &Server{URL: "http://" + l.Addr().String(), Addr: l.Addr().String()}
}

// complaints are what the servers write to their logs.
type complaints struct {
	mu  sync.Mutex // guards buf
	buf strings.Builder
}

func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Write(p)
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.String()
}
