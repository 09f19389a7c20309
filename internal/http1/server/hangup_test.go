package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/wire"
)

// waits answers when its request's context ends or it is told to, and says which.
func waits(started chan<- struct{}, ended chan<- error, proceed <-chan struct{}) scripted {
	return func(ctx context.Context, req *wire.Request, out wire.Responder) error {
		if req.Body != nil {
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return err
			}
		}
		started <- struct{}{}
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
			return ctx.Err()
		case <-proceed:
			ended <- nil
			return writeResponse(out, []byte("ok"))
		}
	}
}

// A call ends after its client has left, in whatever way, although nothing is written to
// it.
func TestHangUp(t *testing.T) {
	t.Parallel()
	for name, disconnect := range map[string]func(net.Conn){
		"close":      func(c net.Conn) { _ = c.Close() },
		"reset":      func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); _ = c.Close() },
		"half close": func(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite() },
	} {
		for kind, text := range map[string]string{"": get, " behind a body": post("/v1/x", "hello")} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				ended := make(chan error, 1)
				started := make(chan struct{})
				s := start(t, waits(started, ended, nil))
				c := s.dial(t).send(text)
				<-started
				disconnect(c.Conn)
				select {
				case err := <-ended:
					if err == nil {
						t.Error("the call ended by itself")
					}
				case <-time.After(30 * time.Second):
					t.Error("the call goes on")
				}
			})
		}
	}
}

// A call goes on while its client waits, also when it has sent its next request, and that
// is served.
func TestNoHangUp(t *testing.T) {
	t.Parallel()
	started, ended, proceed := make(chan struct{}), make(chan error, 1), make(chan struct{})
	s := start(t, waits(started, ended, proceed))
	c := s.dial(t).send(get)
	<-started
	time.Sleep(150 * time.Millisecond) // longer than between two looks
	c.send(get)
	_ = c.Conn.(*net.TCPConn).CloseWrite() // hides behind the second request
	time.Sleep(150 * time.Millisecond)
	select {
	case err := <-ended:
		t.Fatalf("the call ended: %v", err)
	case proceed <- struct{}{}:
	}
	if got := c.readResponse("GET"); got.text != "ok" {
		t.Errorf("%q", got.text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-started
	if err := <-ended; err == nil { // now the end shows
		t.Error("the second call ended by itself")
	}
}

// Clients are looked after again when a server has slept for want of any.
func TestHangUpAfterSleep(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan error, 1)
	s := start(t, waits(started, ended, nil))
	for range 2 {
		time.Sleep(1200 * time.Millisecond) // by then nobody looks
		c := s.dial(t).send(get)
		<-started
		_ = c.Close()
		if err := <-ended; err == nil {
			t.Error("the call ended by itself")
		}
	}
}

// A call ends as well when the gateway does not read the body that its request came with.
func TestHangUpWithAnUnreadBody(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan error, 1)
	s := start(t, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
		body := req.Body
		req.Body = nil
		err := waits(started, ended, nil)(ctx, req, out)
		req.Body = body
		return err
	})
	c := s.dial(t).send(post("/v1/x", "hello"))
	<-started
	_ = c.Close()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the call ended by itself")
		}
	case <-time.After(30 * time.Second):
		t.Error("the call goes on")
	}
}

// held is a connection that can keep back what is written, so that it goes in one piece.
type held struct {
	net.Conn
	keeps    bool
	buffered []byte
}

func (h *held) Write(p []byte) (int, error) {
	if h.keeps {
		h.buffered = append(h.buffered, p...)
		return len(p), nil
	}
	return h.Conn.Write(p)
}

func (h *held) release(t *testing.T) {
	t.Helper()
	h.keeps = false
	_ = h.SetWriteDeadline(time.Now().Add(10 * time.Second)) // TLS lets pass one when it closes
	if _, err := h.Write(h.buffered); err != nil {
		t.Fatal(err)
	}
}

// secureDial opens a connection under TLS on which each write is a record.
func (r *running) secureDial(t *testing.T, version uint16) (*client, *held) {
	t.Helper()
	c := r.dial(t)
	h := &held{Conn: c.Conn}
	secure := tls.Client(h, &tls.Config{RootCAs: authority().Pool(), ServerName: "127.0.0.1", MinVersion: version, MaxVersion: version})
	if err := secure.Handshake(); err != nil {
		t.Fatal(err)
	}
	return &client{secure, t, bufio.NewReader(secure)}, h
}

// Under TLS, too, a request behind which the next one stands is answered, although the
// client has closed its side, in whatever pieces all of that comes.
func TestNoHangUpUnderTLS(t *testing.T) {
	t.Parallel()
	for version, number := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		for _, text := range []string{get, post("/v1/x", "hello")} {
			for _, timing := range []string{"together", "apart"} {
				t.Run(version+" "+text[:4]+" "+timing, func(t *testing.T) {
					t.Parallel()
					started, ended, proceed := make(chan struct{}), make(chan error, 1), make(chan struct{})
					s := start(t, waits(started, ended, proceed), withTLS)
					c, h := s.secureDial(t, number)
					h.keeps = timing == "together"
					c.send(text)
					if !h.keeps {
						<-started
					}
					c.send(get)
					_ = c.Conn.(*tls.Conn).CloseWrite()
					if h.keeps {
						h.release(t)
						<-started
					}
					_ = h.Conn.(*net.TCPConn).CloseWrite()
					time.Sleep(150 * time.Millisecond) // longer than between two looks
					select {
					case err := <-ended:
						t.Fatalf("the call ended: %v", err)
					case proceed <- struct{}{}:
					}
					if got := c.readResponse("GET"); got.text != "ok" {
						t.Errorf("%q", got.text)
					}
					<-ended
					<-started
					if err := <-ended; err == nil { // now the end shows
						t.Error("the second call ended by itself")
					}
				})
			}
		}
	}
}

// A call under TLS ends when its client leaves, with a farewell or without, in whatever
// pieces the request came.
func TestHangUpUnderTLSInPieces(t *testing.T) {
	t.Parallel()
	for version, number := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		for _, way := range []string{"at once", "farewell", "end"} {
			t.Run(version+" "+way, func(t *testing.T) {
				t.Parallel()
				started, ended := make(chan struct{}), make(chan error, 1)
				s := start(t, waits(started, ended, nil), withTLS)
				c, h := s.secureDial(t, number)
				head, body, _ := strings.Cut(post("/v1/x", "hello"), "\r\n\r\n")
				h.keeps = true
				c.send(head + "\r\n\r\n").send(body)
				if way == "at once" {
					_ = c.Conn.(*tls.Conn).CloseWrite()
				}
				h.release(t)
				<-started
				if way == "farewell" {
					_ = c.Conn.(*tls.Conn).CloseWrite()
				}
				_ = h.Conn.(*net.TCPConn).CloseWrite()
				select {
				case err := <-ended:
					if err == nil {
						t.Error("the call ended by itself")
					}
				case <-time.After(30 * time.Second):
					t.Error("the call goes on")
				}
			})
		}
	}
}
