package transport_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/provider/transport"
)

// canned is a connection that delivers bytes in reads of at most step and ends.
type canned struct {
	data []byte
	step int
}

func (c *canned) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.data[:min(c.step, len(c.data))])
	c.data = c.data[n:]
	return n, nil
}

func (*canned) Write(p []byte) (int, error)      { return len(p), nil }
func (*canned) Close() error                     { return nil }
func (*canned) LocalAddr() net.Addr              { return nil }
func (*canned) RemoteAddr() net.Addr             { return nil }
func (*canned) SetDeadline(time.Time) error      { return nil }
func (*canned) SetReadDeadline(time.Time) error  { return nil }
func (*canned) SetWriteDeadline(time.Time) error { return nil }

// FuzzReadAnswer holds the parser against net/http's: what is accepted here is
// accepted there too, with the same status, lines and body. However the bytes are
// cut into reads, the result is the same.
func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: \t b \r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0006 \r\n world\r\n0\r\nX-T: 1\r\n\r\n",
		"HTTP/1.0 404 Not Found\r\nConnection: close\r\n\r\nuntil close",
		"HTTP/1.1 204 No Content\r\nA: b\r\nA: c\r\n\r\n",
		"HTTP/1.1 304\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\nA: b\n\nx",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
	} {
		f.Add([]byte(s), uint8(7), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8, isHead bool) {
		method := "GET"
		if isHead {
			method = "HEAD"
		}
		status, hd, text, err := transport.ReadResponse(&canned{bytes.Clone(data), len(data) + 1}, method, 4096)
		status2, hd2, text2, err2 := transport.ReadResponse(&canned{bytes.Clone(data), int(step) + 1}, method, 3)
		if (err == nil) != (err2 == nil) || status != status2 || len(hd) != len(hd2) || err == nil && !bytes.Equal(text, text2) {
			t.Fatalf("in one piece %d %q %v; in pieces %d %q %v", status, text, err, status2, text2, err2)
		}
		if err != nil {
			return
		}
		want, wantText, err := reference(data, method)
		if err != nil {
			t.Fatalf("accepted %d %q, net/http: %v", status, text, err)
		}
		if status != want.StatusCode || !bytes.Equal(text, wantText) {
			t.Fatalf("%d %q, net/http: %d %q", status, text, want.StatusCode, wantText)
		}
		for name, values := range want.Header {
			if got := hd.Values(strings.ToLower(name)); strings.Join(got, "\n") != strings.Join(values, "\n") {
				t.Fatalf("%s: %q, net/http: %q", name, got, values)
			}
		}
	})
}

// reference reads an answer, past interim ones, with net/http.
func reference(data []byte, method string) (*http.Response, []byte, error) {
	r := bufio.NewReader(bytes.NewReader(data))
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return nil, nil, err
		}
		if resp.StatusCode < 200 {
			continue
		}
		text, err := io.ReadAll(resp.Body)
		return resp, text, err
	}
}

// A head that comes behind an interim one is found wherever it lies in the buffer, which
// moves it to the front when it is full.
func TestHeadBehindInterim(t *testing.T) {
	t.Parallel()
	early := "HTTP/1.1 103 Early Hints\r\nlink: " + strings.Repeat("a", 8000) + "\r\n\r\n"
	response := "HTTP/1.1 200 OK\r\nx-a: " + strings.Repeat("b", 12000) + "\r\ncontent-length: 5\r\n\r\nhello"
	for _, step := range []int{100, 1000, 8192, 16384, 1 << 20} {
		status, hd, text, err := transport.ReadResponse(&canned{[]byte(early + response), step}, "GET", 4096)
		if err != nil || status != 200 || len(hd.Get("x-a")) != 12000 || string(text) != "hello" {
			t.Errorf("reads of %d: %d %q %v", step, status, text, err)
		}
	}
}

// Whatever the sizes of chunks, network reads and caller's reads, the body is what
// was sent.
func TestChunksComeTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "body")
		var wired bytes.Buffer
		wired.WriteString("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
		for rest := want; len(rest) > 0; {
			n := min(rapid.IntRange(1, 700).Draw(t, "chunk"), len(rest))
			fmt.Fprintf(&wired, "%x\r\n%s\r\n", n, rest[:n])
			rest = rest[n:]
		}
		wired.WriteString("0\r\n\r\n")
		nc := &canned{wired.Bytes(), rapid.IntRange(1, 3000).Draw(t, "network read")}
		_, _, got, err := transport.ReadResponse(nc, "GET", rapid.IntRange(1, 3000).Draw(t, "read"))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(want), err)
		}
	})
}
