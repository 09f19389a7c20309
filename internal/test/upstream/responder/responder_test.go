package responder_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sluice/internal/test/upstream/responder"
	"sluice/internal/test/upstream/testcert"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a responder until the test ends and returns it with its address.
func serve(t testing.TB, o responder.Options) (*responder.Responder, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := responder.New(o)
	run(t, func(ctx context.Context) error { return r.Serve(ctx, ln) })
	return r, ln.Addr().String()
}

func run(t testing.TB, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func do(t *testing.T, c *http.Client, method, url, contentType string, body io.Reader) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, b
}

// answers drives every kind of answer and checks the counts.
func answers(t *testing.T, c *http.Client, base string) {
	const chat = `{"model":"m","messages":[]}`
	big := bytes.Repeat([]byte("0123456789abcdef"), 25<<16) // 25 MiB
	cases := []struct {
		name, path, body string
		reader           io.Reader
		check            func(t *testing.T, b []byte)
	}{
		{name: "chat", path: "/v1/chat/completions", body: chat, check: isJSON(1024)},
		{name: "long chat", path: "/v1/chat/completions", body: `{"model":"m","stream": true,"x":"` + strings.Repeat("x", 100<<10) + `"}`, check: isStream(20, false)},
		{name: "stream", path: "/v1/chat/completions?x=1", body: `{"stream":true}`, check: isStream(20, false)},
		{name: "stream with usage", path: "/openai/v1/chat/completions", body: `{"stream": true,"stream_options":{"include_usage":true}}`, check: isStream(20, true)},
		{name: "message", path: "/v1/messages", body: chat, check: checkText("content.0.text", "usage.output_tokens")},
		{name: "stream of a message", path: "/v1/messages", body: `{"stream":true}`, check: isMessageStream(20)},
		{name: "converse", path: "/model/m/converse", body: chat, check: checkText("output.message.content.0.text", "usage.outputTokens")},
		{name: "converse-stream", path: "/model/m/converse-stream", body: chat, check: isConverseStream(20)},
		{name: "embeddings", path: "/v1/embeddings", body: `{"input":"a"}`, check: isVector},
		{name: "transcription", path: "/v1/audio/transcriptions", reader: bytes.NewReader(big), check: isText},
		{name: "transcription in chunks", path: "/v1/audio/transcriptions", reader: io.MultiReader(bytes.NewReader(big)), check: isText},
		{name: "echo", path: "/v1/anything%2Felse", body: "a\x00b", check: is("a\x00b")},
		{name: "echo of nothing", path: "/v1/empty", check: is("")},
		{name: "long echo", path: "/v1/x", body: strings.Repeat("y", 1<<20), check: is(strings.Repeat("y", 1<<20))},
		{name: "echo in chunks", path: "/v1/x", reader: io.MultiReader(strings.NewReader("abc"), strings.NewReader("def")), check: is("abcdef")},
		{name: "echo too long", path: "/v1/x", body: strings.Repeat("y", 1<<20+1), check: is(`{"bytes":1048577}`)},
	}
	var received int64
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			r := k.reader
			received += int64(len(k.body))
			if r == nil {
				r = strings.NewReader(k.body)
			} else if strings.HasPrefix(k.name, "trans") {
				received += int64(len(big))
			} else {
				received += 6
			}
			_, b := do(t, c, http.MethodPost, base+k.path, "text/x-test", r)
			k.check(t, b)
		})
	}
	_, b := do(t, c, http.MethodGet, base+"/__stats", "", nil)
	var s responder.Stats
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	want := responder.Stats{Requests: 16, Chats: 3, Streams: 5, Embeddings: 1, Transcriptions: 2, Echoes: 5, Connections: s.Connections, BytesIn: received, BytesOut: s.BytesOut}
	if s != want || s.Connections < 1 || s.BytesOut < 1<<20 {
		t.Errorf("stats %+v\nwant  %+v", s, want)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, responder.Options{Chunks: 20})
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	answers(t, c, "http://"+addr)
}

func TestAnswersOverHTTP2(t *testing.T) {
	t.Parallel()
	auth, err := testcert.New(testcert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := responder.New(responder.Options{Chunks: 20})
	run(t, func(ctx context.Context) error { return r.ServeTLS(ctx, ln, auth.Config("h2", "http/1.1")) })
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: auth.Pool()}, ForceAttemptHTTP2: true}}
	defer c.CloseIdleConnections()
	if res, _ := do(t, c, http.MethodGet, "https://"+ln.Addr().String()+"/__stats", "", nil); res.ProtoMajor != 2 {
		t.Errorf("protocol %s", res.Proto)
	}
	answers(t, c, "https://"+ln.Addr().String())
}

func is(want string) func(*testing.T, []byte) {
	return func(t *testing.T, b []byte) {
		if string(b) != want {
			t.Errorf("%d bytes %.80q, want %d bytes %.80q", len(b), b, len(want), want)
		}
	}
}

func isJSON(size int) func(*testing.T, []byte) {
	return func(t *testing.T, b []byte) {
		var r struct {
			Choices []struct{ Message struct{ Content string } }
			Usage   struct {
				Total int `json:"total_tokens"`
			}
		}
		if err := json.Unmarshal(b, &r); err != nil || len(b) != size || r.Choices[0].Message.Content == "" || r.Usage.Total != 220 {
			t.Errorf("%v: %d bytes, want %d: %s", err, len(b), size, b)
		}
	}
}

func isVector(t *testing.T, b []byte) {
	var r struct {
		Data []struct{ Embedding []float64 }
	}
	if err := json.Unmarshal(b, &r); err != nil || len(r.Data) != 1 || len(r.Data[0].Embedding) != 1536 {
		t.Errorf("%v: %.200s", err, b)
	}
}

func isText(t *testing.T, b []byte) {
	var r struct{ Text string }
	if err := json.Unmarshal(b, &r); err != nil || len(r.Text) != 400 {
		t.Errorf("%v: %.200s", err, b)
	}
}

// isStream checks n text events with times that do not go back, and the end.
func isStream(n int, usage bool) func(*testing.T, []byte) {
	return func(t *testing.T, b []byte) {
		events := strings.Split(strings.TrimSuffix(string(b), "\n\n"), "\n\n")
		want := n + 2
		if usage {
			want++
		}
		if len(events) != want || events[want-1] != "data: [DONE]" || strings.Contains(string(b), `"usage":{`) != usage {
			t.Fatalf("%d events, want %d, usage %v: %s", len(events), want, usage, b)
		}
		var last int64
		for _, e := range events[:n] {
			_, after, _ := strings.Cut(e, responder.SentField)
			sent, err := strconv.ParseInt(after[:19], 10, 64)
			if ago := time.Since(time.Unix(0, sent)); err != nil || sent < last || ago < 0 || ago > time.Minute || !json.Valid([]byte(e[len("data: "):])) {
				t.Fatalf("%v: event %s sent %s ago", err, e, ago)
			}
			last = sent
		}
	}
}

// Requests that come together on one connection are told apart, whatever their
// framing, and what is no HTTP is refused and counted.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	r, addr := serve(t, responder.Options{})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	const chunked = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nX-T: 1\r\n\r\n"
	const plain = "POST /y HTTP/1.1\r\nHost: a\r\ncontent-LENGTH:  2\r\n\r\nhi"
	const request = "POST /z HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n!"
	if _, err := io.WriteString(c, strings.Repeat(chunked+plain, 500)+request+"GET /bad\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(c)
	next := func() string {
		res, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		return fmt.Sprintf("%d %s", res.StatusCode, b)
	}
	for range 500 {
		if a, b := next(), next(); a != "200 abcde" || b != "200 hi" {
			t.Fatalf("got %q, %q", a, b)
		}
	}
	if a, b, d := next(), next(), next(); a != "100 " || b != "200 !" || d != "400 " {
		t.Errorf("got %q, %q, %q", a, b, d)
	}
	if _, err := br.ReadByte(); err != io.EOF {
		t.Errorf("connection goes on after nonsense: %v", err)
	}
	if s := r.Stats(); s.Requests != 1001 || s.BytesIn != 500*7+1 || s.BytesOut != s.BytesIn || s.Broken != 1 || s.Connections != 1 {
		t.Errorf("stats %+v", s)
	}
}

// The events of a stream keep to their times from the start.
func TestInterval(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, responder.Options{Chunks: 5, Interval: 10 * time.Millisecond, Delay: 10 * time.Millisecond})
	begun := time.Now()
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	_, b := do(t, c, http.MethodPost, "http://"+addr+"/v1/chat/completions", "", strings.NewReader(`{"stream":true}`))
	if took := time.Since(begun); took < 50*time.Millisecond {
		t.Errorf("took %s", took)
	}
	isStream(5, false)(t, b)
}

// The plain paths allocate nothing per request.
func TestAllocations(t *testing.T) {
	_, addr := serve(t, responder.Options{Chunks: 3})
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	response := make([]byte, 1<<20)
	for _, k := range []struct{ name, path, body, end string }{
		{"chat", "/v1/chat/completions", `{"model":"m"}`, "}"},
		{"embeddings", "/v1/embeddings", `{"model":"m"}`, "}}"},
		{"message", "/v1/messages", `{"model":"m"}`, "}}"},
		{"converse", "/model/m/converse", `{"model":"m"}`, "}}"},
		{"stream", "/v1/chat/completions", `{"stream":true}`, "0\r\n\r\n"},
		{"message stream", "/v1/messages", `{"stream":true}`, "0\r\n\r\n"},
		{"converse-stream", "/model/m/converse-stream", `{}`, "0\r\n\r\n"},
		{"transcription", "/v1/audio/transcriptions", strings.Repeat("x", 200<<10), "}}"},
		{"echo", "/v1/x", `{"a":1}!`, "!"},
	} {
		request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", k.path, len(k.body), k.body)
		got := testing.AllocsPerRun(50, func() {
			if _, err := c.Write(request); err != nil {
				t.Fatal(err)
			}
			for n := 0; !bytes.HasSuffix(response[:n], []byte(k.end)); {
				m, err := c.Read(response[n:])
				if n += m; err != nil {
					t.Fatal(err)
				}
			}
		})
		if got > 0.1 && !(k.name == "transcription" && got <= 2) { // a long body keeps its path past the buffer
			t.Errorf("%s: %.1f allocations", k.name, got)
		}
	}
}

// FuzzConnection: no bytes that a client sends stop the responder.
func FuzzConnection(f *testing.F) {
	f.Add([]byte("POST /v1/x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add([]byte("POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
	f.Add([]byte("GET /__stats HTTP/1.1\r\nConnection: close\r\n\r\n"))
	f.Add([]byte("GET / HTTP/1.0\r\n:\r\n\r\n"))
	_, addr := serve(f, responder.Options{Chunks: 2})
	f.Cleanup(http.DefaultClient.CloseIdleConnections)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_, _ = c.Write(b)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		if res, err := http.Get("http://" + addr + "/__stats"); err != nil || res.StatusCode != 200 {
			t.Fatalf("the responder is gone: %v", err)
		} else {
			_ = res.Body.Close()
		}
	})
}
