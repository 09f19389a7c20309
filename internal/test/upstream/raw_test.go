package upstream_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/test/upstream"
)

// How an exchange ended, as the raw client saw it.
const (
	ended   = "end"     // the server closed
	resetBy = "reset"   // the server reset
	quiet   = "nothing" // neither, until the client lost patience
)

// exchange sends bytes on a connection of its own and reads until it ends or, when what
// came is all that is to come, is silent for a moment. Nil is for what has an end.
func exchange(t *testing.T, addr, request string, all func(got string) bool) (got, end string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return drain(c, all)
}

func drain(c net.Conn, all func(got string) bool) (got, end string) {
	var b strings.Builder
	buf := make([]byte, 64<<10)
	for {
		patience := 30 * time.Second
		if all != nil && all(b.String()) {
			patience = 50 * time.Millisecond
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		n, err := c.Read(buf)
		b.Write(buf[:n])
		switch {
		case err == nil:
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			return b.String(), quiet
		case errors.Is(err, syscall.ECONNRESET):
			return b.String(), resetBy
		}
		return b.String(), ended
	}
}

// post is a request whose connection the server is to end after the answer, unless
// more headers are given.
func post(path, body string, headers ...string) string {
	if len(headers) == 0 {
		headers = []string{"Connection: close"}
	}
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: up\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n\r\n%s",
		path, len(body), strings.Join(headers, "\r\n"), body)
}

func chat(model string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"stream":%v,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello there"}]}`, model, stream)
}

// body cuts the head off.
func body(got string) string {
	_, b, _ := strings.Cut(got, "\r\n\r\n")
	return b
}

func start(t *testing.T, opts ...upstream.Option) *upstream.Server {
	t.Helper()
	return upstream.Start(t, opts...)
}
