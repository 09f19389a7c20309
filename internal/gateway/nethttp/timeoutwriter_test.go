package nethttp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// Handlers that know nothing of slow clients are rid of them, whether they read what is sent
// or not, and whatever they answer; others are served, one call after the other.
func TestPatiently(t *testing.T) {
	t.Parallel()
	handlers := http.NewServeMux()
	handlers.HandleFunc("/reads", func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write(b)
	})
	handlers.HandleFunc("/refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	result := make(chan error, 1)
	handlers.HandleFunc("/tells", func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 64<<20))
		result <- err
	})
	handlers.HandleFunc("/waits", func(w http.ResponseWriter, r *http.Request) { // longer than a client may
		_, _ = w.Write([]byte("a"))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(2 * impatient.WriteStall)
		_, _ = w.Write([]byte("b"))
	})
	srv := httptest.NewServer(WithTimeouts(handlers, impatient))
	t.Cleanup(srv.Close)
	dial := func(t *testing.T) net.Conn {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		return c
	}
	for name, head := range map[string]string{
		"a body that stops":        "POST /reads HTTP/1.1\r\nHost: gw\r\nContent-Length: 9\r\n\r\na",
		"a body that nobody reads": "POST /refuses HTTP/1.1\r\nHost: gw\r\nContent-Length: 9\r\n\r\na",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t)
			_, _ = io.WriteString(c, head)
			response, err := io.ReadAll(c)
			if err != nil || !strings.HasPrefix(string(response), "HTTP/1.1 40") {
				t.Errorf("%q, %v", response, err) // the error is that of this end, which waited too long
			}
		})
	}
	t.Run("an answer that is not taken", func(t *testing.T) {
		t.Parallel()
		c := dial(t)
		_, _ = io.WriteString(c, "GET /tells HTTP/1.1\r\nHost: gw\r\n\r\n")
		select { // nothing is read before
		case err := <-result:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the handler wrote and got %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the handler goes on writing")
		}
		if n, err := io.Copy(io.Discard, c); err != nil || n >= 64<<20 {
			t.Errorf("%d bytes came, %v", n, err)
		}
	})
	t.Run("one after the other", func(t *testing.T) {
		t.Parallel()
		c := dial(t)
		reader := bufio.NewReader(c)
		for _, call := range []string{
			"POST /reads HTTP/1.1\r\nHost: gw\r\nContent-Length: 2\r\n\r\nab", "GET /waits HTTP/1.1\r\nHost: gw\r\n\r\n", "POST /waits HTTP/1.1\r\nHost: gw\r\nContent-Length: 0\r\n\r\n",
		} {
			_, _ = io.WriteString(c, call)
			resp, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "ab" {
				t.Errorf("%q, %v", b, err)
			}
			time.Sleep(2 * impatient.WriteStall) // between two calls it may be silent
		}
	})
}
