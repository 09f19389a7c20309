package server_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"sluice/internal/http1/server"
)

// bodyHead begins a request for the other server whose body does not come.
const bodyHead = "POST /admin HTTP/1.1\r\nHost: gw\r\nContent-Length: 1000\r\n\r\n"

// bodyClients are the ways to send a head and to hold its body back.
var bodyClients = map[string]struct {
	tls   bool
	begin func(testing.TB, *running)
}{
	"a head alone":     {false, func(t testing.TB, s *running) { s.dial(t).send(bodyHead) }},
	"part of the body": {false, func(t testing.TB, s *running) { s.dial(t).send(bodyHead + `{"email":`) }},
	"chunks without end": {false, func(t testing.TB, s *running) {
		s.dial(t).send("POST /admin HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n")
	}},
	"a body that waits to be invited": {false, func(t testing.TB, s *running) {
		s.dial(t).send("POST /admin HTTP/1.1\r\nHost: gw\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n")
	}},
	"after a valid call": {false, func(t testing.TB, s *running) {
		c := s.dial(t).send(get)
		c.readResponse("GET")
		c.send(bodyHead)
	}},
	"TLS": {true, func(t testing.TB, s *running) { s.dialTLS(t, "http/1.1", bodyHead) }},
	"HTTP/2": {true, func(t testing.TB, s *running) {
		s.dialTLS(t, "h2", http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+
			"\x00\x00\x0e\x01\x04\x00\x00\x00\x01\x83\x87\x04\x06/admin\x01\x02gw")
	}},
}

// readsBody is the other server's handler: it reads the body of a caller that it does not
// authenticate.
func readsBody(s *server.Server) {
	s.Rest.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
}

// Connections that hold the body of a request back do not keep out others while their caller
// is not authenticated, neither by taking all slots nor from one address.
func TestEvict_BodyOfUnauthenticatedCaller(t *testing.T) {
	t.Parallel()
	for name, c := range bodyClients {
		for reason, share := range map[string]int{server.EvictedShare: 4, server.EvictedSilent: 100} {
			t.Run(name+", "+reason, func(t *testing.T) {
				t.Parallel()
				change := []func(*server.Server){readsBody, func(s *server.Server) { s.MaxConns, s.MaxSilentPerClient = 8, share }}
				if c.tls {
					change = append(change, withTLS)
				}
				s := start(t, echo, change...)
				const clients = 12
				for range clients {
					c.begin(t, s)
				}
				evicted := func() int64 {
					return s.Evicted(server.EvictedShare) + s.Evicted(server.EvictedSilent) + s.Evicted(server.EvictedIdle)
				}
				for late := time.Now().Add(20 * time.Second); int64(s.Waiting())+evicted() < clients; time.Sleep(time.Millisecond) {
					if time.Now().After(late) {
						t.Fatalf("%d connections wait for a body, %d are evicted", s.Waiting(), evicted())
					}
				}
				s.ask(t, c.tls)
			})
		}
	}
}

// A caller that is authenticated may take its time for the body.
func TestEvict_BodyOfAuthenticatedCaller(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	s := start(t, echo, func(s *server.Server) {
		s.MaxConns, s.MaxSilentPerClient, s.MaxUnauthenticatedBody = 3, 2, 20*time.Millisecond
		s.Rest.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			server.MarkAuthenticated(r.Context())
			close(began)
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(b)
		})
	})
	c := s.dial(t).send("POST /admin HTTP/1.1\r\nHost: gw\r\nContent-Length: 4\r\n\r\nab")
	<-began
	for range 20 {
		s.dial(t)
	}
	s.ask(t, false)
	if got := c.send("cd").readResponse("POST"); got.text != "abcd" {
		t.Errorf("the answer is %q", got.text)
	}
}

// A body that is complete is served to its end, however many silent connections come.
func TestEvict_CompleteBodyStays(t *testing.T) {
	t.Parallel()
	read, finish := make(chan struct{}), make(chan struct{})
	s := start(t, echo, func(s *server.Server) {
		s.MaxConns, s.MaxSilentPerClient, s.MaxUnauthenticatedBody = 3, 2, time.Second
		s.Rest.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			close(read)
			<-finish
			_, _ = w.Write(b)
		})
	})
	c := s.dial(t).send(post("/admin", "abcd"))
	<-read
	for range 20 {
		s.dial(t)
	}
	s.ask(t, false)
	close(finish)
	if got := c.readResponse("POST"); got.text != "abcd" {
		t.Errorf("the answer is %q", got.text)
	}
}

// A caller that is not authenticated has a short time for its body, even if it keeps sending,
// and although slots are free.
func TestServer_BodyOfUnauthenticatedCallerHasDeadline(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		failed := make(chan error, 1)
		change := []func(*server.Server){func(s *server.Server) {
			s.MaxUnauthenticatedBody = 50 * time.Millisecond
			s.Rest.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, err := io.ReadAll(r.Body)
				failed <- err
			})
		}}
		if secure {
			change = append(change, withTLS)
		}
		s := start(t, echo, change...)
		if secure {
			bodyClients["HTTP/2"].begin(t, s)
		} else {
			s.dial(t).send(bodyHead + "{")
		}
		select {
		case err := <-failed:
			if err == nil {
				t.Error("the body is complete")
			}
		case <-time.After(20 * time.Second):
			t.Error("the handler waits for the body")
		}
	}
}
