package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// Where no more connections may be open and all are being served further ones wait; a place is
// given back however a connection ends, and those that go on asking give theirs back with
// their next answer.
func TestPlaces(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}, 2), make(chan struct{})
	s := start(t, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
		if req.Path != "/v1/x" {
			begun <- struct{}{}
			<-release
		}
		return echo(ctx, req, out)
	}, func(s *server.Server) { s.MaxConns = 2 })
	for range 5 { // none is lost: refused, answered here, at Rest, and left without a word
		s.dial(t).send("nonsense\r\n\r\n").readResponse("GET")
		c := s.dial(t).send("GET /v1/x HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n")
		c.readResponse("GET")
		c.closed()
		s.dial(t).send("GET /health HTTP/1.1\r\nHost: gw\r\n\r\n").readResponse("GET")
		_ = s.dial(t).Close()
	}
	hold := func(name string) *client {
		return s.dial(t).send("GET /v1/" + name + " HTTP/1.1\r\nHost: gw\r\n\r\n")
	}
	first, second := hold("first"), hold("second")
	for range 2 { // both are being served, whatever was there before
		<-begun
	}
	third := s.dial(t).send(get)
	_ = third.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	var late net.Error
	if _, err := third.r.Peek(1); !errors.As(err, &late) || !late.Timeout() {
		t.Fatalf("the third is served: %v", err)
	}
	_ = third.SetReadDeadline(time.Now().Add(30 * time.Second))
	release <- struct{}{}
	release <- struct{}{}
	a, b := first.readResponse("GET"), second.readResponse("GET")
	if !a.Close && !b.Close {
		t.Error("both keep their places, though another one waits for one")
	}
	for name, got := range map[string]response{"first": a, "second": b, "third": third.readResponse("GET")} {
		if got.StatusCode != http.StatusOK {
			t.Errorf("the %s: %d", name, got.StatusCode)
		}
	}
}

// A server that has no place stops all the same.
func TestStopWithoutPlaces(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	s := start(t, stream(proceed), func(s *server.Server) { s.MaxConns = 1 })
	resp := begun(t, s)
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(t.Context()) }()
	close(proceed)
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "last\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
