package h1_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"sluice/internal/dataplane/front/h1"
)

// Where no more connections may be open further ones wait; a place is given back however a
// connection ends, and those that go on asking make room with their next answer.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := start(t, echo, func(s *h1.Server) { s.Most = 2 })
	for range 5 { // none is lost: refused, answered here, at Rest, and left without a word
		s.dial(t).send("nonsense\r\n\r\n").reply("GET")
		c := s.dial(t).send("GET /v1/x HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n")
		c.reply("GET")
		c.closed()
		s.dial(t).send("GET /health HTTP/1.1\r\nHost: gw\r\n\r\n").reply("GET")
		_ = s.dial(t).Close()
	}
	first := s.dial(t).send(get)
	for late := time.Now().Add(30 * time.Second); first.reply("GET").Close; first = s.dial(t).send(get) { // until those before are gone
		if time.Now().After(late) {
			t.Fatal("places are lost")
		}
	}
	second := s.dial(t).send(get)
	if second.reply("GET").Close {
		t.Error("the second is sent away, though nobody waits for its place")
	}
	for range 3 { // all places are taken, and nobody waits
		if first.send(get).reply("GET").Close || second.send(get).reply("GET").Close {
			t.Fatal("a connection is closed, though nobody waits for its place")
		}
	}
	third := s.dial(t).send(get)
	_ = third.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	var late net.Error
	if _, err := third.r.Peek(1); !errors.As(err, &late) || !late.Timeout() {
		t.Fatalf("the third is served: %v", err)
	}
	_ = third.SetReadDeadline(time.Now().Add(30 * time.Second))
	if got := first.send(get).reply("GET"); !got.Close {
		t.Error("the first keeps its place, though another one waits for it")
	}
	first.closed()
	for name, c := range map[string]*client{"second": second.send(get), "third": third} {
		if got := c.reply("GET"); got.StatusCode != http.StatusOK {
			t.Errorf("the %s: %d", name, got.StatusCode)
		}
	}
}

// A server that has no place stops all the same.
func TestStopWithoutPlaces(t *testing.T) {
	t.Parallel()
	tell := make(chan struct{})
	s := start(t, stream(tell), func(s *h1.Server) { s.Most = 1 })
	resp := begun(t, s)
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(t.Context()) }()
	close(tell)
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "last\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
