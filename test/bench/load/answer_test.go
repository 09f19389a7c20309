package load

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

func TestParseHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, head string
		want       responseHead
		bad        bool
	}{
		{name: "length", head: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1024", want: responseHead{status: 200, length: 1024}},
		{name: "lower case and blanks", head: "HTTP/1.1 200 OK\r\ncontent-length:\t7 ", want: responseHead{status: 200, length: 7}},
		{name: "no reason", head: "HTTP/1.1 503\r\nContent-Length: 0", want: responseHead{status: 503}},
		{name: "chunks", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", want: responseHead{status: 200, length: -1}},
		{name: "the connection ends", head: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2", want: responseHead{status: 200, length: 2, closes: true}},
		{name: "the connection stays", head: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2", want: responseHead{status: 200, length: 2}},
		{name: "nothing to read", head: "HTTP/1.1 204 No Content", want: responseHead{status: 204}},
		{name: "open end", head: "HTTP/1.1 200 OK\r\nServer: x", bad: true},
		{name: "two lengths", head: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2", bad: true},
		{name: "length and chunks", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2", bad: true},
		{name: "negative length", head: "HTTP/1.1 200 OK\r\nContent-Length: -1", bad: true},
		{name: "signed length", head: "HTTP/1.1 200 OK\r\nContent-Length: +1", bad: true},
		{name: "another encoding", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked", bad: true},
		{name: "another protocol", head: "SSH-2.0-OpenSSH_9.2 200", bad: true},
		{name: "a word as status", head: "HTTP/1.1 2x0 OK\r\nContent-Length: 0", bad: true},
		{name: "a status too long", head: "HTTP/1.1 2000 OK\r\nContent-Length: 0", bad: true},
		{name: "no colon", head: "HTTP/1.1 200 OK\r\nContent-Length 0", bad: true},
		{name: "a bare line feed in the status", head: "HTTP/1.1 200 OK\nX: y\r\nContent-Length: 0", bad: true},
		{name: "a bare line feed in a field", head: "HTTP/1.1 200 OK\r\nX: y\nContent-Length: 0\r\nContent-Length: 1", bad: true},
		{name: "nothing", head: "", bad: true},
	} {
		got, err := parseHead([]byte(c.head))
		if (err != nil) != c.bad || !c.bad && got != c.want {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
}

// Responses come out the same however the bytes are cut.
func TestResponsesInARow(t *testing.T) {
	t.Parallel()
	wire := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" +
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n" +
		"HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n"
	for _, cut := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader} {
		r := reader{src: cut(strings.NewReader(wire)), buf: make([]byte, 64)}
		for _, want := range []struct {
			status int
			body   string
		}{{200, "hello"}, {200, "abc0123456789"}, {429, ""}} {
			var body bytes.Buffer
			a, size, err := r.response(func(p []byte) { body.Write(p) })
			if err != nil || a.status != want.status || body.String() != want.body || size != int64(len(want.body)) {
				t.Fatalf("got %d %q (%d), %v; want %+v", a.status, body.String(), size, err, want)
			}
		}
	}
}

func TestBrokenResponses(t *testing.T) {
	t.Parallel()
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for wire, want := range map[string]error{
		"": io.ErrUnexpectedEOF,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell": io.ErrUnexpectedEOF,
		chunked + "5\r\nhel":                               io.ErrUnexpectedEOF,
		chunked + "5\r\nhello\r\n":                         io.ErrUnexpectedEOF,
		chunked + "5\r\nhello!\r\n0\r\n\r\n":               errChunk,
		chunked + "-1\r\n\r\n":                             errChunk,
		chunked + "ffffffffffffffff\r\n":                   errChunk,
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 99): errTooLong,
	} {
		r := reader{src: strings.NewReader(wire), buf: make([]byte, 64)}
		if _, _, err := r.response(nil); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", wire, err, want)
		}
	}
}

// What this parser takes, net/http takes too, and reads the same.
func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 502 Bad Gateway\r\nTransfer-Encoding: chunked\r\n\r\na;x\r\n0123456789\r\n0\r\nT: 1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		var got bytes.Buffer
		r := reader{src: bytes.NewReader(wire), buf: make([]byte, 4096)}
		a, size, err := r.response(func(p []byte) { got.Write(p) })
		if err != nil {
			return
		}
		if size != int64(got.Len()) {
			t.Fatalf("says %d bytes and showed %d", size, got.Len())
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(wire)), nil)
		if err != nil || resp.ProtoMinor == 0 || a.status < 200 || a.status == 204 || a.status == 304 {
			return // stricter in what does not occur here, or a status without a body
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return
		}
		if resp.StatusCode != a.status || !bytes.Equal(body, got.Bytes()) {
			t.Fatalf("got %d %q, net/http reads %d %q", a.status, got.Bytes(), resp.StatusCode, body)
		}
	})
}
