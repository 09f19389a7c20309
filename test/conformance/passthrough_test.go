package conformance

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"pgregory.net/rapid"

	"sluice/internal/test/upstream"
)

// through is a pass-through call of openai.
func through(method, target string, body string, header ...string) message {
	m := message{first: method + " " + target, body: body}
	m.header.Add("x-gateway-api-key", gatewayKey)
	m.header.Add("x-gateway-provider", "openai")
	m.header.Add("authorization", "Bearer key-of-openai")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		m.header.Add(name, value)
	}
	return m
}

const odd = "{\"b\" : 1.0 ,\n\"a\":[ 1e2,\"\\u00e9\\/\"],\"a2\":{}  }\n"

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close() // memory takes everything
	return b.String()
}

func brotlied(s string) string {
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close() // memory takes everything
	return b.String()
}

func chunked(chunks ...string) string {
	var b strings.Builder
	for _, p := range chunks {
		fmt.Fprintf(&b, "%x;ext=1\r\n%s\r\n", len(p), p)
	}
	return b.String() + "0\r\n\r\n"
}

// TestPassThrough sends what is not ours to read in every form: what arrives on the
// other side is the same, both ways.
func TestPassThrough(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("0123456789abcdef", 80_000) // over what is kept in memory
	form := "--b\r\ncontent-disposition: form-data; name=\"f\"; filename=\"a \\\"b\\\".bin\"\r\n\r\n\x00\r\n--x\r\n--b--\r\n"
	cases := []struct {
		name     string
		ask      message
		body     string // as the provider must see it, when it differs from ask's
		response upstream.Response
	}{
		{"odd JSON", through("POST", "/v1/vector_stores", odd, "content-type: application/json"), "", upstream.Text(200, "application/json", odd)},
		{"JSON that is none", through("POST", "/v1/vector_stores", "{\"a\":", "content-type: application/json"), "", upstream.Text(422, "application/json", "{\"detail\": [}")},
		{"gzip both ways", through("POST", "/v1/x", gzipped(odd), "content-type: application/json", "content-encoding: gzip", "accept-encoding: gzip, br"), "",
			with(upstream.Text(200, "application/json", gzipped(odd)), "Content-Encoding", "gzip")},
		{"brotli both ways", through("PUT", "/v1/x", brotlied(odd), "content-encoding: br"), "", with(upstream.Text(200, "text/plain", brotlied(odd)), "Content-Encoding", "br")},
		{"a form", through("POST", "/v1/uploads/u/parts", form, "content-type: multipart/form-data; boundary=b"), "", upstream.Text(201, "multipart/mixed; boundary=b", form)},
		{"chunks", through("POST", "/v1/x", chunked("a", "bc\r\n", large), "transfer-encoding: chunked", "content-type: audio/wav"), "abc\r\n" + large,
			upstream.Response{Framing: upstream.Chunked, Chunks: []upstream.Chunk{{Bytes: []byte("x")}, {Bytes: []byte(large)}}}},
		{"a large body", through("POST", "/v1/x", large, "content-type: application/octet-stream"), "", upstream.Text(200, "application/octet-stream", large)},
		{"large JSON", through("POST", "/v1/x", `{"model":"m","x":"`+large+`"}`, "content-type: application/json"), "", upstream.Text(200, "application/json", `["`+large+`"]`)},
		{"no content", through("DELETE", "/v1/assistants/a%2Fb", ""), "", upstream.Response{Status: 204}},
		{"an empty answer", through("POST", "/v1/x", ""), "", upstream.Response{Status: 202}},
		{"until the connection closes", through("GET", "/v1/x", ""), "", upstream.Response{Framing: upstream.UntilClose, End: upstream.Close, Chunks: []upstream.Chunk{{Bytes: []byte(odd)}}}},
		{"events with comments", through("POST", "/v1/threads/runs", `{"stream":true}`, "content-type: application/json"), "",
			upstream.Stream(": hello\n\n", "event: a\r\ndata: {\"usage\": null}\r\n\r\n", "id: 1\nretry: 5\ndata:x\ndata: y\n\n", "data: [DONE]")},
		{"a web page", through("PATCH", "/v1/x", "x=1", "content-type: application/x-www-form-urlencoded"), "", upstream.Text(200, "text/html", "<html>")},
		{"a redirect", through("GET", "/v1/x", ""), "", with(upstream.Response{Status: 307}, "Location", "https://elsewhere.example.com/")},
		{"an error", through("GET", "/v1/x", ""), "", upstream.Text(503, "text/plain", "no\x00\xff")},
		{"an image", through("GET", "/v1/x.png", ""), "", upstream.Text(200, "image/png", "\x89PNG\r\n\x1a\n\x00")},
	}
	r := newRig(t)
	for _, c := range cases {
		want := c.ask.body
		if c.body != "" {
			want = c.body
		}
		r.up.Script(upstream.Always(c.response))
		before := r.up.Total()
		a := r.call(c.ask)
		if r.up.Total() != before+1 {
			t.Fatalf("%s: answered %s %.200s", c.name, a.first, a.body)
		}
		seen := r.up.Seen()[before]
		if got := seen.Method + " " + seen.Target; got != c.ask.first || string(seen.Body) != want {
			t.Errorf("%s: the provider received %s\n%.300q\nwant\n%.300q", c.name, got, seen.Body, want)
		}
		for _, name := range []string{"content-type", "content-encoding", "accept-encoding"} {
			if got := seen.Get(name); got != c.ask.header.Get(name) {
				t.Errorf("%s: the provider received %s %q", c.name, name, got)
			}
		}
		sameResponse(t, c.name, c.response, a)
	}
}

func with(r upstream.Response, name, value string) upstream.Response {
	r.Header = append(r.Header[:len(r.Header):len(r.Header)], upstream.Field{Name: name, Value: value})
	return r
}

// sameResponse compares what the provider said with what the client got.
func sameResponse(t testing.TB, name string, sent upstream.Response, got message) {
	t.Helper()
	var body []byte
	for _, p := range sent.Chunks {
		body = append(body, p.Bytes...)
	}
	if status := strconv.Itoa(max(sent.Status, 200)); got.first != status || got.body != string(body) {
		t.Errorf("%s: the client got %s\n%.300q\nwant %s\n%.300q", name, got.first, got.body, status, body)
	}
	for _, f := range sent.Header {
		if v := got.header.Get(strings.ToLower(f.Name)); v != f.Value {
			t.Errorf("%s: the client got %s %q, want %q", name, f.Name, v, f.Value)
		}
	}
}

// TestPassThroughBytes is TestPassThrough with random paths, queries and bodies.
func TestPassThroughBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	element := rapid.StringMatching(`([a-zA-Z0-9._~!$&'()*+,;=:@-]|%2F|%2f|%3A|%20|%00|%C3%A9|%25){1,6}`).Filter(func(s string) bool {
		return strings.Trim(strings.NewReplacer("%2F", "/", "%2f", "/").Replace(s), "./") != ""
	})
	query := rapid.StringMatching(`([a-z0-9=&%+:/?@,;~\[\]{}|-]){0,12}`)
	rapid.Check(t, func(rt *rapid.T) {
		target := "/x/" + strings.Join(rapid.SliceOfN(element, 1, 3).Draw(rt, "path"), "/")
		if q := query.Draw(rt, "query"); q != "" {
			target += "?" + q
		}
		requestBody, sent := rapid.SliceOf(rapid.Byte()).Draw(rt, "asked"), rapid.SliceOf(rapid.Byte()).Draw(rt, "said")
		response := upstream.Text(rapid.IntRange(200, 599).Filter(hasBody).Draw(rt, "status"), "application/x-any", string(sent))
		r.t = rt
		r.checkPassThrough(rapid.SampledFrom([]string{"POST", "PUT", "PATCH", "DELETE"}).Draw(rt, "method"), target, requestBody, response)
	})
}

// hasBody leaves out the statuses that come without a body.
func hasBody(status int) bool { return status != 204 && status != 304 }

// checkPassThrough makes a pass-through call and fails when a byte of it differs on the other
// side. A call that the gateway refuses must not have been sent.
func (r *rig) checkPassThrough(method, target string, body []byte, response upstream.Response) {
	r.t.Helper()
	r.up.Script(upstream.Always(response))
	before := r.up.Total()
	a := r.call(through(method, "/v1"+target, string(body), "content-type: application/octet-stream"))
	if r.up.Total() == before {
		if a.first < "400" {
			r.t.Fatalf("%s %s was answered %s without being sent", method, target, a.first)
		}
		return
	}
	seen := r.up.Seen()[before]
	if seen.Method != method || seen.Target != "/v1"+target || !bytes.Equal(seen.Body, body) || seen.Host != "api.openai.com" {
		r.t.Fatalf("%s %s %q became %s %s%s %q", method, target, body, seen.Method, seen.Host, seen.Target, seen.Body)
	}
	sent := string(response.Chunks[0].Bytes)
	if a.first != strconv.Itoa(response.Status) || a.body != sent || a.header.Get("content-type") != response.Header[0].Value {
		r.t.Fatalf("%d %q became %s %q", response.Status, sent, a.first, a.body)
	}
}
