package server_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
	"sluice/internal/test/upstream/testcert"
)

// What is not for the gateway, or not plain HTTP/1.1, comes to the other server with
// every byte that was read. What follows it, which that server would read by rules of its
// own, is read by nobody.
func TestHandOver(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	s := start(t, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
		served.Add(1)
		return echo(ctx, req, out)
	})
	for name, c := range map[string]struct{ text, want string }{
		"another path":    {"GET /health HTTP/1.1\r\nHost: gw\r\n\r\n", "rest HTTP/1.1 GET /health "},
		"with a body":     {"POST /admin HTTP/1.1\r\nHost: gw\r\nContent-Length: 5\r\n\r\nhello", "rest HTTP/1.1 POST /admin hello"},
		"in chunks":       {"POST /admin HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "rest HTTP/1.1 POST /admin hello"},
		"absolute target": {"GET http://gw/v1/x HTTP/1.1\r\nHost: gw\r\n\r\n", "rest HTTP/1.1 GET http://gw/v1/x "},
		"asterisk":        {"OPTIONS * HTTP/1.1\r\nHost: gw\r\n\r\n", ""},
		"upgrade":         {"GET /v1/x HTTP/1.1\r\nHost: gw\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n", "rest HTTP/1.1 GET /v1/x "},
		"connect":         {"CONNECT gw:443 HTTP/1.1\r\nHost: gw:443\r\n\r\n", "rest HTTP/1.1 CONNECT gw:443 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := s.dial(t).send(c.text + "POST /v1/y HTTP/1.1\r\nHost: gw\r\nContent-Length: 1\r\n\r\nx")
			if got := client.readResponse("GET"); got.text != c.want || got.StatusCode != 200 || !got.Close {
				t.Fatalf("%d %q, close %v, want %q", got.StatusCode, got.text, got.Close, c.want)
			}
			client.closed()
		})
	}
	t.Run("in the middle", func(t *testing.T) {
		t.Parallel()
		client := s.dial(t).send(get + "GET /health HTTP/1.1\r\nHost: gw\r\n\r\n")
		if got := client.readResponse("GET"); got.text != "GET /v1/x? gw\n" {
			t.Errorf("%q", got.text)
		}
		if got := client.readResponse("GET"); got.text != "rest HTTP/1.1 GET /health " {
			t.Errorf("then %q", got.text)
		}
	})
	t.Run("HTTP/1.0", func(t *testing.T) {
		t.Parallel()
		if got := s.sendRaw(t, "GET /v1/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"+get); !strings.HasSuffix(got, "rest HTTP/1.0 GET /v1/x ") {
			t.Errorf("%q", got)
		}
	})
	t.Run("HTTP/2 preface", func(t *testing.T) {
		t.Parallel()
		if got := s.sendRaw(t, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); !strings.HasSuffix(got, "rest HTTP/2.0 PRI * ") {
			t.Errorf("%q", got)
		}
	})
	t.Cleanup(func() { // runs when the parallel cases have ended
		if n := served.Load(); n != 1 {
			t.Errorf("%d requests came to the gateway", n)
		}
	})
}

// authority signs the certificate of every server of the tests.
var authority = sync.OnceValue(func() *testcert.Authority {
	a, err := testcert.New(testcert.Options{})
	if err != nil {
		panic(err) // nothing here can run
	}
	return a
})

// withTLS has a server speak TLS.
func withTLS(s *server.Server) {
	s.Rest.TLSConfig = authority().Config("h2", "http/1.1")
}

// secureClient trusts the servers of the tests.
func secureClient(t testing.TB, http2 bool) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority().Pool(), MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: http2}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

// Under TLS the client chooses: HTTP/1.1 is served here, HTTP/2 by the other server.
func TestTLS(t *testing.T) {
	t.Parallel()
	s := start(t, echo, withTLS)
	for _, c := range []struct {
		path, body string
		http2      bool
		want       string
	}{
		{"/v1/x", "hello", false, "POST /v1/x? " + s.addr + "\nhello"},
		{"/v1/x", strings.Repeat("large", 40<<10), false, "POST /v1/x? " + s.addr + "\n" + strings.Repeat("large", 40<<10)},
		{"/admin", "hello", false, "rest HTTP/1.1 POST /admin hello"},
		{"/v1/x", "hello", true, "rest HTTP/2.0 POST /v1/x hello"},
	} {
		client := secureClient(t, c.http2)
		for range 2 {
			resp, err := client.Post("https://"+s.addr+c.path, "text/plain", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || string(b) != c.want {
				t.Errorf("%s: %.80q %v, want %.80q", c.path, b, err, c.want)
			}
		}
	}
}

// Who speaks HTTP in the clear to a port of TLS is told so, and nothing is served; what is
// neither is answered by nothing but TLS itself.
func TestInTheClear(t *testing.T) {
	t.Parallel()
	s := start(t, echo, withTLS)
	for name, c := range map[string]struct {
		text     string
		reported bool
	}{
		"GET":              {get, true},
		"PATCH":            {"PATCH /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n", true},
		"HTTP/1.0":         {"DELETE /v1/x HTTP/1.0\r\n\r\n", true},
		"with a body":      {post("/v1/x", strings.Repeat("large", 40<<10)), true},
		"with another":     {get + get, true},
		"another protocol": {"SSH-2.0-client\r\n", false},
		"a blank":          {" GET / HTTP/1.1\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := s.sendRaw(t, c.text)
			if strings.HasPrefix(got, "HTTP/1.1 400 ") != c.reported || strings.Contains(got, "this port uses HTTPS") != c.reported || strings.Count(got, "HTTP/1.1 ") > 1 {
				t.Errorf("%q", got)
			}
		})
	}
}

// A call under TLS ends when its client leaves, too.
func TestHangUpUnderTLS(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan error, 1)
	s := start(t, waits(started, ended, nil), withTLS)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		<-started
		stop()
	}()
	req, _ := http.NewRequestWithContext(ctx, "GET", "https://"+s.addr+"/v1/x", nil)
	if resp, err := secureClient(t, false).Do(req); err == nil {
		t.Errorf("answered %d", resp.StatusCode)
	}
	if err := <-ended; err == nil {
		t.Error("the call ended by itself")
	}
}

// A client that begins TLS and says no more is left.
func TestSlowHandshake(t *testing.T) {
	t.Parallel()
	s := start(t, echo, withTLS, func(s *server.Server) { s.Rest.ReadHeaderTimeout = 200 * time.Millisecond })
	s.dial(t).send("\x16\x03\x01\x02\x00").closed()
}

// curl, as another reader of the same pages, agrees.
func TestCurl(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	plain, secure := start(t, echo), start(t, echo, withTLS)
	for name, args := range map[string][]string{
		"plain":    {"http://" + plain.addr + "/v1/x", "-d", "hello"},
		"expect":   {"http://" + plain.addr + "/v1/x", "-d", "hello", "-H", "Expect: 100-continue"},
		"chunked":  {"http://" + plain.addr + "/v1/x", "-d", "hello", "-H", "Transfer-Encoding: chunked"},
		"twice":    {"http://" + plain.addr + "/v1/x", "-d", "hello", "http://" + plain.addr + "/v1/x"},
		"HTTP/1.0": {"http://" + plain.addr + "/v1/x", "-d", "hello", "-0"},
		"TLS 1.1":  {"https://" + secure.addr + "/v1/x", "-d", "hello", "-k", "--http1.1"},
		"TLS 2":    {"https://" + secure.addr + "/v1/x", "-d", "hello", "-k", "--http2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(curl, append([]string{"-sS", "--max-time", "10"}, args...)...).CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), "hello") {
				t.Errorf("%q %v", out, err)
			}
		})
	}
}

// A WebSocket is opened over a connection that was handed over, and outlives nobody.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	s := start(t, echo, func(s *server.Server) {
		s.Rest.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer c.CloseNow()
			for {
				typ, b, err := c.Read(r.Context())
				if err != nil || c.Write(r.Context(), typ, b) != nil {
					return
				}
			}
		})
	})
	c, _, err := websocket.Dial(t.Context(), "ws://"+s.addr+"/v1/realtime", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for i := range 3 {
		want := fmt.Sprint("message ", i)
		if err := c.Write(t.Context(), websocket.MessageText, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(t.Context()); err != nil || string(got) != want {
			t.Fatalf("%q %v", got, err)
		}
	}
	_ = c.Close(websocket.StatusNormalClosure, "")
}
