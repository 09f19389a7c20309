package upstream_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"sluice/internal/test/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a client of its own, whose idle connections end with the test.
func client(t *testing.T, conf *tls.Config) *http.Client {
	tr := &http.Transport{TLSClientConfig: conf, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func send(t *testing.T, c *http.Client, url, contentType, text string) (int, string) {
	t.Helper()
	res, err := c.Post(url, contentType, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// What was sent is remembered byte for byte: target, head, order and case of the
// headers, and the body.
func TestSeen(t *testing.T) {
	t.Parallel()
	up := start(t)
	raw := "POST /v1/echo/a%2Fb%3A?q=%20x HTTP/1.1\r\nhOsT: up\r\nX-Two: 1\r\nx-two:   2 \r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
	got, _ := exchange(t, up.Addr(), raw+"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTr: 1\r\n\r\n", nil)
	if body(got) != "abcdefg" {
		t.Errorf("echo %q", got)
	}
	s := up.Seen()[0]
	if s.ID != 1 || s.Conn != 1 || s.Method != "POST" || s.Proto != "HTTP/1.1" || s.Target != "/v1/echo/a%2Fb%3A?q=%20x" || s.Path() != "/v1/echo/a%2Fb%3A" || s.Host != "up" || string(s.Head) != raw {
		t.Errorf("head: %+v", s)
	}
	want := []upstream.Field{{Name: "hOsT", Value: "up"}, {Name: "X-Two", Value: "1"}, {Name: "x-two", Value: "2"}, {Name: "Transfer-Encoding", Value: "chunked"}, {Name: "Connection", Value: "close"}}
	if !slices.Equal(s.Header, want) || s.Get("X-TWO") != "1" || !s.Has("host") || s.Has("via") {
		t.Errorf("header: %v", s.Header)
	}
	if string(s.Body) != "abcdefg" || s.BodyBytes != 7 || s.BodySum != sha256.Sum256([]byte("abcdefg")) || !s.Chunked || s.BodyErr != nil {
		t.Errorf("body: %+v", s)
	}
	if s.Received.IsZero() || s.Answered.Before(s.Received) || !s.Cancelled.IsZero() {
		t.Errorf("times: %s %s %s", s.Received, s.Answered, s.Cancelled)
	}
}

// Bodies beyond what is kept are counted and summed whole, and still get the
// demo's answer.
func TestLongBody(t *testing.T) {
	t.Parallel()
	up := start(t, upstream.MaxBody(1000))
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("model", "demo-transcribe")
	f, _ := w.CreateFormFile("file", "long.mp3")
	_, _ = f.Write(bytes.Repeat([]byte("sound "), 1<<20))
	_ = w.Close()
	content := form.Bytes()
	code, text := send(t, client(t, nil), up.URL()+"/v1/audio/transcriptions", w.FormDataContentType(), string(content))
	if code != 200 || !strings.Contains(text, "long.mp3: 6291456 bytes") {
		t.Errorf("%d %s", code, text)
	}
	s := up.Seen()[0]
	if s.BodyBytes != int64(len(content)) || s.BodySum != sha256.Sum256(content) || !bytes.Equal(s.Body, content[:1000]) {
		t.Errorf("%d of %d bytes, %d kept", s.BodyBytes, len(content), len(s.Body))
	}
}

// A body that ends early or is malformed is noted, and nobody answers it.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"short":       "POST /v1/echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc",
		"chunk":       "POST /v1/echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"cut chunk":   "POST /v1/echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"both":        "POST /v1/echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"coding":      "POST /v1/echo HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
		"bad length":  "POST /v1/echo HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
		"bad head":    "POST /v1/echo\r\n\r\n",
		"bare LF":     "POST /v1/echo HTTP/1.1\nHost: a\r\n\r\n",
		"header line": "POST /v1/echo HTTP/1.1\r\nnonsense\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := start(t)
			c, err := net.Dial("tcp", up.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_, _ = io.WriteString(c, request)
			_ = c.(*net.TCPConn).CloseWrite()
			if got, _ := drain(c, nil); strings.Contains(got, " 200 ") {
				t.Errorf("answered %q", got)
			}
			up.Await(t, "note of the bad body", func(s []upstream.Seen) bool { return len(s) == 1 && s[0].BodyErr != nil })
		})
	}
}

// Connection numbers show reuse; a stale connection meets the second request with
// a reset.
func TestReuse(t *testing.T) {
	t.Parallel()
	up := start(t)
	c := client(t, nil)
	for range 3 {
		send(t, c, up.URL()+"/v1/echo", "text/plain", "x")
	}
	for i, s := range up.Seen() {
		if s.ID != i+1 || s.Conn != 1 {
			t.Errorf("request %d has id %d on connection %d", i, s.ID, s.Conn)
		}
	}
	send(t, c, up.URL()+"/v1/fault/stale", "text/plain", "x")
	if _, err := c.Post(up.URL()+"/v1/echo", "text/plain", strings.NewReader("x")); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("on a stale connection: %v", err)
	}
	send(t, c, up.URL()+"/v1/echo", "text/plain", "x")
	if s := up.Seen(); len(s) != 5 || s[4].Conn != 2 {
		t.Errorf("%d requests, the last on connection %d", len(s), s[len(s)-1].Conn)
	}
	up.DropConnections()
	send(t, client(t, nil), up.URL()+"/v1/echo", "text/plain", "x")
}

// The time at which a caller left is noted, in the wait before an answer, between
// the events of a stream and in a stall, on both protocols.
func TestCancelled(t *testing.T) {
	t.Parallel()
	plain, secure := start(t), upstream.StartTLS(t)
	conf := &tls.Config{RootCAs: secure.Roots()}
	for name, up := range map[string]*upstream.Server{"http1": plain, "http2": secure} {
		c := client(t, conf)
		for _, fault := range []string{"hang", "slow-head@1h", "stall@1", "slow-stream@1h", "stall-body@3"} {
			t.Run(name+"/"+fault, func(t *testing.T) {
				before := up.Total()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				req, _ := http.NewRequestWithContext(ctx, http.MethodPost, up.URL()+"/v1/chat/completions", strings.NewReader(chat("fault:"+fault, true)))
				ended := make(chan error)
				go func() { ended <- readAll(c, req) }()
				up.Await(t, "request", func(s []upstream.Seen) bool { return len(s) > before && s[before].Fault == fault })
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("the answer ended with %v", err)
				}
				all := up.Await(t, "note of the caller's leaving", func(s []upstream.Seen) bool { return !s[before].Cancelled.IsZero() })
				if s := all[before]; !s.Answered.IsZero() {
					t.Errorf("noted %s, answered %s", s.Cancelled, s.Answered)
				}
			})
		}
	}
}

func readAll(c *http.Client, req *http.Request) error {
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// Faults are named by header, query, path, JSON model and form model, can be
// limited to a number of times, and what does not exist says so.
func TestNaming(t *testing.T) {
	t.Parallel()
	up := start(t)
	c := client(t, nil)
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\nxx\r\n--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nfault:status@418\r\n--b--\r\n"
	for _, k := range []struct {
		name, path, contentType, body string
		want                          int
	}{
		{"query", "/v1/anything?a=b&fault=status@418", "", "", 418},
		{"path", "/v1/fault/status@418", "", "", 418},
		{"escaped path", "/v1/fault/status%40418", "", "", 418},
		{"JSON model", "/v1/chat/completions", "application/json", chat("fault:status@418", false), 418},
		{"form model", "/v1/audio/transcriptions", "multipart/form-data; boundary=b", form, 418},
		{"query model", "/v1/realtime?model=fault:status@418", "", "", 418},
		{"no such fault", "/v1/fault/typo", "", "", 501},
		{"no such argument", "/v1/fault/status@x", "", "", 501},
		{"no fault", "/v1/chat/completions", "application/json", chat("demo-chat", false), 200},
		{"first of two", "/v1/fault/status@418*2%23label", "", "", 418},
		{"second of two", "/v1/fault/status@418*2%23label", "", "", 418},
		{"after two", "/v1/fault/status@418*2%23label", "", "", 200},
		{"other label", "/v1/fault/status@418*2%23other", "", "", 418},
	} {
		if code, text := send(t, c, up.URL()+k.path, k.contentType, k.body); code != k.want {
			t.Errorf("%s: %d %s", k.name, code, text)
		}
	}
	if s := up.Seen()[0]; s.Fault != "status@418" {
		t.Errorf("fault noted as %q", s.Fault)
	}
}

// Scripts come before faults, the path's before the general one.
func TestScripts(t *testing.T) {
	t.Parallel()
	up := start(t)
	c := client(t, nil)
	up.Script(upstream.InTurn(upstream.JSON(201, map[string]int{"n": 1}), upstream.OpenAIError(503, "server_error", "x", "down")))
	up.Handle("/v1/own", upstream.Always(upstream.Text(202, "text/plain", "own")))
	up.ScriptHead(func(s upstream.Seen) *upstream.Response {
		if s.Path() != "/v1/early" {
			return nil
		}
		return &upstream.Response{Status: 413, Early: true}
	})
	for _, k := range []struct {
		path string
		code int
		body string
	}{
		{"/v1/own", 202, "own"},
		{"/v1/echo", 201, `{"n":1}`},
		{"/v1/early", 413, ""},
		{"/v1/echo?fault=status@418", 503, `{"error":{"code":"x","message":"down","param":null,"type":"server_error"}}`},
		{"/v1/echo", 200, "hi"},
	} {
		if code, got := send(t, c, up.URL()+k.path, "text/plain", "hi"); code != k.code || got != k.body {
			t.Errorf("%s: %d %q, want %d %q", k.path, code, got, k.code, k.body)
		}
	}
	if up.Total() != 5 {
		t.Errorf("%d requests", up.Total())
	}
	up.Handle("/v1/own", func(s upstream.Seen) *upstream.Response { r := up.Fault("status@409", s); return &r })
	if code, _ := send(t, c, up.URL()+"/v1/own", "", ""); code != 409 {
		t.Errorf("fault of a script: %d", code)
	}
}

// A caller that asks may send its body after 100 Continue, and need not when the
// answer comes early.
func TestContinue(t *testing.T) {
	t.Parallel()
	up := start(t)
	for fault, want := range map[string]string{"": "HTTP/1.1 100 Continue\r\n\r\n", "early@417": "HTTP/1.1 417 Expectation Failed\r\n"} {
		c, err := net.Dial("tcp", up.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "POST /v1/echo HTTP/1.1\r\nx-fault: "+fault+"\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n")
		first := make([]byte, len(want))
		if _, err := io.ReadFull(c, first); err != nil || string(first) != want {
			t.Errorf("%q: %q %v", fault, first, err)
		}
		_, _ = io.WriteString(c, "hi")
		if rest, end := drain(c, nil); fault == "" && body(rest) != "hi" || end != ended {
			t.Errorf("%q: then %q, %s", fault, rest, end)
		}
	}
}

// Events are written one by one, with the gap that was asked for.
func TestGap(t *testing.T) {
	t.Parallel()
	up := start(t, upstream.Gap(3*time.Millisecond))
	begun := time.Now()
	_, got := send(t, client(t, nil), up.URL()+"/v1/chat/completions", "application/json", chat("m", true))
	if took := time.Since(begun); took < 3*streamEvents*time.Millisecond || strings.Count(got, "\n\n") != streamEvents {
		t.Errorf("%d events in %s", strings.Count(got, "\n\n"), took)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	if _, err := http.Get(upstream.Refused(t)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v", err)
	}
}

// TLS servers are good for the names they were given and not past their day, and
// agree on h2 or not.
func TestTLS(t *testing.T) {
	t.Parallel()
	good, old := upstream.StartTLS(t), upstream.StartTLS(t, upstream.HTTP1Only())
	for up, proto := range map[*upstream.Server]string{good: "HTTP/2.0", old: "HTTP/1.1"} {
		c := client(t, &tls.Config{RootCAs: up.Roots()})
		if code, got := send(t, c, up.URL()+"/v1/echo?x=1", "text/plain", "hi"); code != 200 || got != "hi" {
			t.Errorf("%s: %d %q", proto, code, got)
		}
		s := up.Seen()[0]
		if s.Proto != proto || s.Target != "/v1/echo?x=1" || string(s.Body) != "hi" || s.Get("Content-Type") != "text/plain" || len(up.CAPEM()) == 0 {
			t.Errorf("%s: %+v", proto, s)
		}
	}
	for name, up := range map[string]*upstream.Server{
		"name":    upstream.StartTLS(t, upstream.CertNames("elsewhere.example")),
		"expired": upstream.StartTLS(t, upstream.CertExpired()),
	} {
		if _, err := client(t, &tls.Config{RootCAs: up.Roots()}).Get(up.URL()); !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := client(t, nil).Get(good.URL()); err == nil || !strings.Contains(err.Error(), "authority") {
		t.Errorf("unknown authority: %v", err)
	}
	if start(t).CAPEM() != nil {
		t.Error("an authority without TLS")
	}
}

// Faults that have a meaning on HTTP/2 break the stream there, the others are
// plain answers.
func TestFaultsOverHTTP2(t *testing.T) {
	t.Parallel()
	up := upstream.StartTLS(t)
	c := client(t, &tls.Config{RootCAs: up.Roots()})
	for fault, want := range map[string]string{
		"cut-stream@2": "break", "reset-body": "break", "garbage": "break", "cut-before": "break",
		"no-done": "200", "status@503": "503", "early-hints": "200", "trailers": "200", "gzip": "200", "early@413": "413", "no-content": "204",
	} {
		res, err := c.Post(up.URL()+"/v1/chat/completions?fault="+fault, "application/json", strings.NewReader(chat("m", true)))
		got := "break"
		if err == nil {
			got = res.Status[:3]
			if _, err = io.Copy(io.Discard, res.Body); err != nil {
				got = "break"
			}
			_ = res.Body.Close()
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", fault, got, want, err)
		}
	}
}

// The demo's WebSocket is there, and refusals before it are plain answers.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	up := start(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, up.URL()+"/v1/realtime?model=demo-realtime", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, first, err := ws.Read(ctx)
	if err != nil || !strings.Contains(string(first), `"session.created"`) {
		t.Errorf("%s %v", first, err)
	}
	_ = ws.Close(websocket.StatusNormalClosure, "")
	for target, want := range map[string]int{"/v1/realtime": 400, "/v1/realtime?model=fault:status@403": 403} {
		if _, res, err := websocket.Dial(ctx, up.URL()+target, nil); err == nil || res.StatusCode != want {
			t.Errorf("%s: %v %v", target, res, err)
		}
	}
	up.Await(t, "end of the conversation", func(s []upstream.Seen) bool { return len(s) == 3 && !s[0].Answered.IsZero() })
}

// Callers at once are all seen, once each.
func TestCounts(t *testing.T) {
	t.Parallel()
	up := start(t)
	c := client(t, nil)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 50 {
				res, err := c.Post(up.URL()+"/v1/echo", "", strings.NewReader("x"))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = bufio.NewReader(res.Body).ReadByte()
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		}()
	}
	for range 8 {
		<-done
	}
	ids := map[int]bool{}
	for _, s := range up.Await(t, "400 answers", func(s []upstream.Seen) bool {
		return len(s) == 400 && !slices.ContainsFunc(s, func(x upstream.Seen) bool { return x.Answered.IsZero() })
	}) {
		ids[s.ID] = true
	}
	if len(ids) != 400 || up.Total() != 400 {
		t.Errorf("%d ids, %d in all", len(ids), up.Total())
	}
}
