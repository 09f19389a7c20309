package server_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// What two readers could understand differently is refused, in the words of all
// refusals, and nothing behind it is served.
func TestRefusals(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	s := start(t, func(ctx context.Context, req *wire.Request, out wire.Responder) error {
		served.Add(1)
		return echo(ctx, req, out)
	})
	h := "POST /v1/x HTTP/1.1\r\nHost: gw\r\n"
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"both lengths":            {h + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"two lengths":             {h + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
		"length list":             {h + "Content-Length: 5, 5\r\n\r\nhello", 400},
		"signed length":           {h + "Content-Length: +5\r\n\r\nhello", 400},
		"length in hex":           {h + "Content-Length: 0x5\r\n\r\nhello", 400},
		"empty length":            {h + "Content-Length:\r\n\r\n", 400},
		"unknown coding":          {h + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
		"coding in disguise":      {h + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
		"coding twice":            {h + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
		"blank before the colon":  {h + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
		"folded line":             {h + "X-A: b\r\n c\r\n\r\n", 400},
		"first line folded":       {"POST /v1/x HTTP/1.1\r\n Host: gw\r\n\r\n", 400},
		"bare line feed":          {"POST /v1/x HTTP/1.1\nHost: gw\r\n\r\n", 400},
		"bare line feed in lines": {h + "X-A: b\nX-B: c\r\n\r\n", 400},
		"bare carriage return":    {h + "X-A: b\rX-B: c\r\n\r\n", 400},
		"nul":                     {h + "X-A: b\x00\r\n\r\n", 400},
		"name with a blank":       {h + "X A: b\r\n\r\n", 400},
		"no name":                 {h + ": b\r\n\r\n", 400},
		"no colon":                {h + "X-A\r\n\r\n", 400},
		"name of another script":  {h + "X-\xc3\x84: b\r\n\r\n", 400},
		"no host":                 {"GET /v1/x HTTP/1.1\r\n\r\n", 400},
		"two hosts":               {h + "Host: other\r\n\r\n", 400},
		"host with a path":        {"GET /v1/x HTTP/1.1\r\nHost: gw/evil\r\n\r\n", 400},
		"host with a user":        {"GET /v1/x HTTP/1.1\r\nHost: a@gw\r\n\r\n", 400},
		"no target":               {"GET HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"empty target":            {"GET  HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"blank in the target":     {"GET /v1/x y HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"tab in the target":       {"GET /v1/x\ty HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"escape of nothing":       {"GET /v1/x% HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"escape of no byte":       {"GET /v1/x%zz HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"no method":               {" /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"method with a colon":     {"GE:T /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"empty line":              {"\r\nGET /v1/x HTTP/1.1\r\nHost: gw\r\n\r\n", 400},
		"TLS":                     {"\x16\x03\x01\x02\x00", 400},
		"other version":           {"GET /v1/x HTTP/3.0\r\nHost: gw\r\n\r\n", 505},
		"no version":              {"GET /v1/x http/1.1\r\nHost: gw\r\n\r\n", 505},
		"other expectation":       {h + "Expect: a miracle\r\nContent-Length: 1\r\n\r\nx", 417},
		"coding in 1.0":           {"POST /v1/x HTTP/1.0\r\nHost: gw\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"other coding in 1.0":     {"POST /x HTTP/1.0\r\nTransfer-Encoding: identity\r\n\r\n", 400},
		"both lengths in 1.0":     {"POST /v1/x HTTP/1.0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"two lengths in 1.0":      {"POST /v1/x HTTP/1.0\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
		"signed length in 1.0":    {"POST /v1/x HTTP/1.0\r\nContent-Length: +5\r\n\r\nhello", 400},
		"folded line in 1.0":      {"POST /v1/x HTTP/1.0\r\nX-A: b\r\n c\r\n\r\n", 400},
		"blank in 1.0":            {"POST /v1/x HTTP/1.0\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
		"long line":               {h + "X-A: " + strings.Repeat("a", 70<<10) + "\r\n\r\n", 431},
		"endless line":            {h + "X-A: " + strings.Repeat("a", 200<<10), 431},
		"many lines":              {h + strings.Repeat("X-A: b\r\n", 200) + "\r\n", 431},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := s.dial(t)
			go func() { _, _ = io.WriteString(client, c.text+get) }() // it may be refused before the end
			got := client.readResponse("GET")
			if got.StatusCode != c.status || !strings.HasPrefix(got.text, `{"error":{`) || !got.Close || got.Header.Get("x-gateway-request-id") == "" {
				t.Errorf("answered %d %v %s", got.StatusCode, got.Header, got.text)
			}
			client.closed()
		})
	}
	t.Cleanup(func() { // runs when the parallel cases have ended
		if n := served.Load(); n > 0 {
			t.Errorf("%d requests came through", n)
		}
	})
}

// Requests are read the same however they come in pieces, and each is answered in its
// turn.
func TestPieces(t *testing.T) {
	t.Parallel()
	s := start(t, echo)
	requests := "GET /v1/a%2Fb?c=%zz HTTP/1.1\r\nHost: gw:80\r\nX-Empty:\r\n\r\n" +
		post("/v1/b", "hello") +
		"POST /v1/c HTTP/1.1\r\nHost:gw\r\nTransfer-Encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\n00006 \r\n world\r\n0\r\nX-T: 1\r\n\r\n" +
		post("/v1/d", strings.Repeat("d", 20<<10)) +
		"PATCH /v1/e HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n" +
		"DELETE /v1/f HTTP/1.1\r\nHost: gw\r\nConnection: Close\r\n\r\n"
	want := []string{
		"GET /v1/a%2Fb?c=%zz gw:80\n", "POST /v1/b? gw\nhello", "POST /v1/c? gw\nhello world", "POST /v1/d? gw\n" + strings.Repeat("d", 20<<10),
		"PATCH /v1/e? \n", "DELETE /v1/f? gw\n",
	}
	for _, size := range []int{1, 7, 100, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			go func() {
				for rest := requests; rest != ""; {
					n := min(size, len(rest))
					if _, err := io.WriteString(c, rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
			}()
			for _, w := range want {
				if got := c.readResponse("GET"); got.text != w || got.StatusCode != 200 {
					t.Fatalf("%d %.80q, want %.80q", got.StatusCode, got.text, w)
				}
			}
			c.closed()
		})
	}
}

// The gateway sees the header as it came, with names in lower case and without the lines
// that are about the connection's framing.
func TestHeader(t *testing.T) {
	t.Parallel()
	seen := make(chan wire.Request, 1)
	s := start(t, func(_ context.Context, req *wire.Request, out wire.Responder) error {
		r := *req
		r.Header = req.Header.Clone(0)
		seen <- r
		return writeResponse(out, nil)
	})
	s.dial(t).send("POST /v1/x?a=b HTTP/1.1\r\nX-First: 1\r\nhost: gw.example:8787\r\nX-First:\t2 \r\nACCEPT: \xc3\xa4\r\n" +
		"Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n").readResponse("POST")
	got := <-seen
	if fmt.Sprint(got.Header) != "[{x-first 1} {x-first 2} {accept ä} {connection keep-alive}]" {
		t.Errorf("header %v", got.Header)
	}
	if got.Method != "POST" || got.Path != "/v1/x" || got.RawQuery != "a=b" || got.Host != "gw.example:8787" || got.Remote != "127.0.0.1" || got.Length != -1 || got.Body == nil {
		t.Errorf("request %+v", got)
	}
}

// A connection carries thousands of requests.
func TestManyRequests(t *testing.T) {
	t.Parallel()
	const n = 10000
	s := start(t, echo)
	c := s.dial(t)
	go func() {
		for range n {
			if _, err := io.WriteString(c, get); err != nil {
				return
			}
		}
	}()
	for i := range n {
		if got := c.readResponse("GET"); got.text != "GET /v1/x? gw\n" {
			t.Fatalf("answer %d: %q", i, got.text)
		}
	}
}

// A head that does not come to its end, and a connection that nobody uses, are closed
// without an answer.
func TestSlowHeads(t *testing.T) {
	t.Parallel()
	s := start(t, echo, func(s *server.Server) {
		s.Rest.ReadHeaderTimeout, s.Rest.IdleTimeout = time.Second, 1200*time.Millisecond
	})
	for name, text := range map[string]string{"nothing": "", "part": get[:20], "unused": get} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(text)
			if text == get {
				c.readResponse("GET")
			}
			c.closed()
		})
	}
	t.Run("drops", func(t *testing.T) {
		t.Parallel()
		c := s.dial(t)
		go func() {
			for i := range get {
				if _, err := io.WriteString(c, get[i:i+1]); err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		}()
		c.closed()
	})
}
