package objects_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/objects"
)

// line is a listener whose connections hold nothing back: what one side sent, the other
// has read.
type line struct {
	conns chan net.Conn
	gone  chan struct{}
}

func (l *line) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.gone:
		return nil, net.ErrClosed
	}
}
func (l *line) Close() error   { close(l.gone); return nil }
func (l *line) Addr() net.Addr { return &net.TCPAddr{} }

func (l *line) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	l.conns <- there
	return here, nil
}

// onLine opens a bucket of a store that answers as h does, in the time of a test's bubble.
func onLine(t *testing.T, h http.HandlerFunc) *objects.Bucket {
	t.Helper()
	l := &line{conns: make(chan net.Conn), gone: make(chan struct{})}
	s, client := &http.Server{Handler: h}, &http.Transport{DialContext: l.dial}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		_ = s.Close()
		time.Sleep(time.Minute) // of the bubble: what the server does behind its last answer
	})
	return open(t, objects.Options{Endpoint: "http://store.internal", HTTP: &http.Client{Transport: client}})
}

// step is how much moves in a second on the slow line.
const step = 256 << 10

// A large object on a slow line arrives, and comes back, however long that takes.
func TestSlowLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var received []byte
		b := onLine(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				var got bytes.Buffer
				for {
					n, _ := io.CopyN(&got, r.Body, step)
					if n < step {
						break
					}
					time.Sleep(time.Second)
				}
				received = got.Bytes()
				return
			}
			for rest := received; len(rest) > 0; {
				n := min(step, len(rest))
				_, _ = w.Write(rest[:n])
				rest = rest[n:]
				time.Sleep(time.Second)
			}
		})
		want, began := bytes.Repeat([]byte("body"), 5<<20), time.Now()
		if err := b.Put(t.Context(), "k", want); err != nil || !bytes.Equal(received, want) {
			t.Errorf("%d bytes are kept, %v; want %d", len(received), err, len(want))
		}
		if took := time.Since(began); took < time.Minute {
			t.Errorf("%d bytes took %s: the line is not slow", len(want), took)
		}
		if got, err := b.Get(t.Context(), "k", 0, 1<<30); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes come back, %v; want %d", len(got), err, len(want))
		}
	})
}

// A store that takes a part, or gives one, and no more is left behind the time limit.
func TestStalledLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		defer close(end)
		b := onLine(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				_, _ = io.CopyN(io.Discard, r.Body, step)
			} else {
				_, _ = w.Write(make([]byte, step))
			}
			select {
			case <-end:
			case <-r.Context().Done():
			}
		})
		for name, call := range map[string]func() error{
			"put": func() error { return b.Put(t.Context(), "k", make([]byte, 4*step)) },
			"get": func() error { _, err := b.Get(t.Context(), "k", 0, 1<<30); return err },
		} {
			began := time.Now()
			err := call()
			if !errors.Is(err, bodies.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(began); took != 15*time.Second || !strings.Contains(objects.Hint(err), "LOG_STORE_CONNECTION_TIMEOUT_MS") {
				t.Errorf("%s took %s; %s", name, took, objects.Hint(err))
			}
		}
	})
}
