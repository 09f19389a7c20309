package upstream_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"sluice/internal/test/upstream"
)

// faultCase is one fault as a raw client meets it on the chat endpoint.
type faultCase struct {
	fault  string
	stream bool
	end    string // how the connection ends
	head   string // the answer begins with it
	has    []string
	hasNot []string
	took   time.Duration         // at least
	all    func(got string) bool // whether all has come, where no end tells
	check  func(t *testing.T, got string)
}

const ok200 = "HTTP/1.1 200 OK\r\n"

var faultCases = []faultCase{
	{fault: "hang", end: quiet, all: func(string) bool { return true }, check: isEmpty},
	{fault: "slow-head@20ms", end: ended, head: ok200, took: 20 * time.Millisecond},
	{fault: "slow-body@2ms", end: ended, head: ok200, took: 20 * time.Millisecond},
	{fault: "cut-before", end: ended, check: isEmpty},
	{fault: "cut-head", end: ended, head: "HTTP/1.1 200 OK\r\nCon", hasNot: []string{"\r\n\r\n"}},
	{fault: "cut-body@9", end: ended, head: ok200, check: bodyIs(`{"id":"ch`)},
	{fault: "reset", end: resetBy, check: isEmpty},
	{fault: "reset-body@4", end: resetBy},
	{fault: "stall-body@4", end: quiet, all: func(got string) bool { return len(body(got)) >= 4 }, head: ok200, check: bodyIs(`{"id`)},
	{fault: "close", end: ended, head: ok200, hasNot: []string{"onnection:"}, check: jsonBody},
	{fault: "close-told", end: ended, head: ok200, has: []string{"Connection: close"}, check: jsonBody},
	{fault: "stale", end: quiet, all: func(got string) bool { return json.Valid([]byte(body(got))) }, head: ok200, check: jsonBody},

	{fault: "garbage", end: ended, head: "SSH-2.0-"},
	{fault: "bad-status", end: ended, head: "HTTP/1.1 OK OK\r\n"},
	{fault: "bad-header", end: ended, head: ok200, has: []string{"a\x00b"}},
	{fault: "bare-lf", end: ended, head: "HTTP/1.1 200 OK\nContent-Type"},
	{fault: "folded", end: ended, head: ok200, has: []string{"X-Odd: a\r\n b\r\n"}},
	{fault: "huge-head@64", end: ended, head: ok200, has: []string{strings.Repeat("a", 64<<10)}},
	{fault: "many-headers@300", end: ended, head: ok200, has: []string{strings.Repeat("X-Odd: a\r\n", 300)}},
	{fault: "two-framings", end: ended, head: ok200, has: []string{"Transfer-Encoding: chunked\r\n", "Content-Length: "}},
	{fault: "two-lengths", end: ended, head: ok200, has: []string{"Content-Length: 7\r\n", "\r\nContent-Length: 629\r\n"}},
	{fault: "bad-chunk", end: ended, head: ok200, has: []string{"\r\n\r\n5\r\n{\"a\":\r\nzz\r\n"}},
	{fault: "length-short", end: ended, head: ok200, check: lengthOff(-1)},
	{fault: "length-long", end: ended, head: ok200, check: lengthOff(10)},
	{fault: "chunked", end: ended, head: ok200, has: []string{"Transfer-Encoding: chunked", "\r\n\r\n1\r\n{\r\n1\r\n\"\r\n", "1\r\n}\r\n"}},
	{fault: "until-close", end: ended, head: ok200, hasNot: []string{"Content-Length", "Transfer-Encoding"}, check: jsonBody},
	{fault: "http10", end: ended, head: "HTTP/1.0 200 OK\r\n", hasNot: []string{"Content-Length"}, check: jsonBody},
	{fault: "trailers", end: ended, head: ok200, has: []string{"Trailer: X-Sum", "0\r\nX-Sum: 42\r\n\r\n"}},
	{fault: "early-hints@2", end: ended, head: "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\nHTTP/1.1 103 ", has: []string{ok200}},
	{fault: "odd-headers", end: ended, head: ok200, has: []string{"X-Twice: 1\r\nx-twice: 2\r\nX-EMPTY: \r\nsEt-CoOkIe: a=b; Path=/\r\nX-Powered-By: Express\r\n"}, check: jsonBody},

	{fault: "status@503", end: ended, head: "HTTP/1.1 503 ", has: []string{`"type":"server_error"`}, check: jsonBody},
	{fault: "plain-status", end: ended, head: "HTTP/1.1 502 ", has: []string{"text/plain", "upstream connect error"}},
	{fault: "html-status@500", end: ended, head: "HTTP/1.1 500 ", has: []string{"text/html", "<!doctype html>"}},
	{fault: "empty-status", end: ended, head: "HTTP/1.1 503 ", has: []string{"Content-Length: 0"}, check: bodyIs("")},
	{fault: "shape@detail", end: ended, head: "HTTP/1.1 400 ", check: bodyIs(`{"detail":"Not authenticated"}`)},
	{fault: "retry-after@3", end: ended, head: "HTTP/1.1 429 ", has: []string{"Retry-After: 3\r\n", "rate_limit_exceeded"}},
	{fault: "retry-after-ms@70", end: ended, head: "HTTP/1.1 429 ", has: []string{"Retry-After-Ms: 70\r\n"}},
	{fault: "x-ms-retry-after-ms", end: ended, head: "HTTP/1.1 429 ", has: []string{"x-ms-retry-after-ms: 100\r\n"}},
	{fault: "retry-after-date@30", end: ended, head: "HTTP/1.1 429 ", check: checkRetryDate},
	{fault: "retry-after-bad", end: ended, head: "HTTP/1.1 429 ", has: []string{"Retry-After: soon\r\n"}},
	{fault: "redirect@http://elsewhere.example/", end: ended, head: "HTTP/1.1 302 ", has: []string{"Location: http://elsewhere.example/\r\n"}},

	{fault: "garbage-json", end: ended, head: ok200, has: []string{"application/json"}, check: brokenJSON},
	{fault: "not-object", end: ended, head: ok200, check: bodyIs(`["not","an","object"]`)},
	{fault: "html", end: ended, head: ok200, has: []string{"text/html; charset=utf-8", "<h1>502 Bad Gateway</h1>"}},
	{fault: "plain", end: ended, head: ok200, check: bodyIs("OK")},
	{fault: "empty", end: ended, head: ok200, has: []string{"application/json"}, check: bodyIs("")},
	{fault: "no-content", end: ended, head: "HTTP/1.1 204 No Content\r\n", hasNot: []string{"Content-Length"}, check: bodyIs("")},
	{fault: "deep-json@200", end: ended, head: ok200, check: bodyIs(`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}")},
	{fault: "error-200", end: ended, head: ok200, has: []string{`{"error":{`}, check: jsonBody},
	{fault: "wrong-type", end: ended, head: ok200, has: []string{"Content-Type: text/plain\r\n"}, check: jsonBody},
	{fault: "odd-json", end: ended, head: ok200, has: []string{"\r\n\r\n\r\n \t{ \"x_esc\" :\t", `"x_dup":1,"x_dup":2`}, check: jsonBody},
	{fault: "gzip", end: ended, head: ok200, has: []string{"Content-Encoding: gzip\r\n"}, check: unpacks(func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })},
	{fault: "brotli", end: ended, head: ok200, has: []string{"Content-Encoding: br\r\n"}, check: unpacks(func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil })},
	{fault: "binary", end: ended, head: ok200, has: []string{"application/octet-stream", "Content-Length: 1024\r\n", "\x00\x01\x02"}},
	{fault: "huge@2", end: ended, head: ok200, has: []string{"Content-Length: 2097154\r\n"}, check: jsonBody},

	{fault: "cut-stream@3", stream: true, end: ended, head: ok200, hasNot: []string{"\r\n0\r\n\r\n"}, check: events(3, false)},
	{fault: "cut-bytes@30", stream: true, end: ended, head: ok200, hasNot: []string{"0\r\n\r\n"}, has: []string{"\r\n\r\n1e\r\ndata: {\"id\":\"chatcmpl-"}, check: bodyLength(len("1e\r\n") + 30 + len("\r\n"))},
	{fault: "reset-stream", stream: true, end: resetBy},
	{fault: "stall@3", stream: true, end: quiet, all: func(got string) bool { return strings.Count(got, "\n\n") >= 3 }, head: ok200, check: events(3, false)},
	{fault: "end-early@3", stream: true, end: ended, head: ok200, has: []string{"\r\n0\r\n\r\n"}, check: events(3, false)},
	{fault: "no-done", stream: true, end: ended, head: ok200, has: []string{`"choices":[],"usage":{`, "\r\n0\r\n\r\n"}, hasNot: []string{"[DONE]"}},
	{fault: "no-events", stream: true, end: ended, head: ok200, check: bodyIs("0\r\n\r\n")},
	{fault: "error-first", stream: true, end: ended, head: ok200, has: []string{`data: {"error":{"message":`, "0\r\n\r\n"}, check: events(1, false)},
	{fault: "overloaded-first", stream: true, end: ended, head: ok200, has: []string{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\""}, check: events(1, false)},
	{fault: "error-mid@3", stream: true, end: ended, head: ok200, has: []string{`data: {"error":{"message":`, "\r\n0\r\n\r\n"}, check: events(4, false)},
	{fault: "garbage-event", stream: true, end: ended, head: ok200, has: []string{"\"choices\":[{\n\n"}, check: events(streamEvents+1, true)},
	{fault: "slow-stream@2ms", stream: true, end: ended, head: ok200, took: 2 * streamEvents * time.Millisecond},
	{fault: "json-for-stream", stream: true, end: ended, head: ok200, has: []string{"application/json"}, check: jsonBody},
	{fault: "sse-crlf", stream: true, end: ended, head: ok200, has: []string{"data: [DONE]\r\n\r\n"}, hasNot: []string{"\n\n"}},
	{fault: "sse-comments", stream: true, end: ended, head: ok200, has: []string{": keep-alive\n\ndata: {", "event: ping\ndata: {\"type\": \"ping\"}\n\n"}},
	{fault: "sse-odd", stream: true, end: ended, head: ok200, has: []string{":\nid: 7\nretry: 3000\ndata:{", "data:[DONE]\n\n"}},
	{fault: "joined", stream: true, end: ended, head: ok200, check: events(streamEvents, true)},

	{fault: "early@413", end: ended, head: "HTTP/1.1 413 "},
	{fault: "early-close", end: ended, head: "HTTP/1.1 413 ", has: []string{"Connection: close\r\n"}},
	{fault: "slow-read@20ms", end: ended, head: ok200, took: 20 * time.Millisecond},
}

// streamEvents is the number of events in the answer to chat(…, true): the role, 11
// words, the finish reason, the usage and [DONE].
const streamEvents = 15

// Every fault does on the wire what its line in the list says.
func TestFaults(t *testing.T) {
	up := start(t)
	for _, c := range faultCases {
		t.Run(c.fault, func(t *testing.T) {
			headers := []string{"x-fault: " + c.fault, "Connection: close"}
			if c.fault == "close" || c.fault == "stale" {
				headers = headers[:1]
			}
			began := time.Now()
			got, end := exchange(t, up.Addr(), post("/v1/chat/completions", chat("demo-chat", c.stream), headers...), c.all)
			if took := time.Since(began); took < c.took {
				t.Errorf("took %s, want at least %s", took, c.took)
			}
			if end != c.end {
				t.Errorf("ended by %s, want %s", end, c.end)
			}
			if !strings.HasPrefix(got, c.head) {
				t.Errorf("begins with %.80q, want %q", got, c.head)
			}
			for _, s := range c.has {
				if !strings.Contains(got, s) {
					t.Errorf("no %.80q in %.2000q", s, got)
				}
			}
			for _, s := range c.hasNot {
				if strings.Contains(got, s) {
					t.Errorf("%.80q in %.2000q", s, got)
				}
			}
			if c.check != nil {
				c.check(t, got)
			}
		})
	}
	if up.Total() != len(faultCases) {
		t.Errorf("%d requests seen, %d sent", up.Total(), len(faultCases))
	}
}

// The table above has every fault.
func TestFaultsAreAllTried(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, c := range faultCases {
		name, _, _ := strings.Cut(c.fault, "@")
		tried[name] = true
	}
	for name, does := range upstream.Faults() {
		if !tried[name] || does == "" {
			t.Errorf("fault %s: tried %v, does %q", name, tried[name], does)
		}
	}
}

func isEmpty(t *testing.T, got string) {
	if got != "" {
		t.Errorf("got %q", got)
	}
}

func bodyIs(want string) func(*testing.T, string) {
	return func(t *testing.T, got string) {
		if b := body(got); b != want {
			t.Errorf("body %q, want %q", b, want)
		}
	}
}

func bodyLength(want int) func(*testing.T, string) {
	return func(t *testing.T, got string) {
		if b := body(got); len(b) != want {
			t.Errorf("body of %d bytes, want %d: %q", len(b), want, b)
		}
	}
}

func jsonBody(t *testing.T, got string) {
	if b := body(got); !json.Valid([]byte(b)) || !strings.Contains(b, "{") {
		t.Errorf("no JSON: %.300q", b)
	}
}

func brokenJSON(t *testing.T, got string) {
	if b := body(got); json.Valid([]byte(b)) || !strings.HasPrefix(b, "{") {
		t.Errorf("not broken: %q", b)
	}
}

func lengthOff(by int64) func(*testing.T, string) {
	return func(t *testing.T, got string) {
		r := parse(t, got)
		if sent := int64(len(body(got))); r.ContentLength != sent+by {
			t.Errorf("announced %d, sent %d", r.ContentLength, sent)
		}
	}
}

func checkRetryDate(t *testing.T, got string) {
	date, err := http.ParseTime(parse(t, got).Header.Get("Retry-After"))
	if delay := time.Until(date); err != nil || delay < 25*time.Second || delay > 31*time.Second {
		t.Errorf("%s ahead, %v", delay, err)
	}
}

func unpacks(open func(io.Reader) (io.Reader, error)) func(*testing.T, string) {
	return func(t *testing.T, got string) {
		r, err := open(strings.NewReader(body(got)))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || !json.Valid(b) {
			t.Errorf("%v: %.200q", err, b)
		}
	}
}

// events counts the events of a stream and looks for its end mark.
func events(n int, done bool) func(*testing.T, string) {
	return func(t *testing.T, got string) {
		if k, d := strings.Count(got, "\n\n"), strings.Contains(got, "[DONE]"); k != n || d != done {
			t.Errorf("%d events, want %d; done %v, want %v: %q", k, n, d, done, got)
		}
	}
}

func parse(t *testing.T, got string) *http.Response {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
