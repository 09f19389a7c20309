package server_test

import (
	"context"
	"io"
	"runtime/debug"
	"testing"

	"sluice/internal/http1/server"
	"sluice/internal/kernel/wire"
)

// chat is a request as official clients send it.
var chat = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:8787\r\nUser-Agent: OpenAI/Python 1.99.0\r\nAccept: application/json\r\n" +
	"Accept-Encoding: gzip, deflate\r\nAuthorization: Bearer sk-0123456789abcdef0123456789abcdef\r\nContent-Type: application/json\r\n" +
	"X-Stainless-Arch: x64\r\nX-Stainless-Async: false\r\nX-Stainless-Lang: python\r\nX-Stainless-Os: Linux\r\nX-Stainless-Package-Version: 1.99.0\r\n" +
	"X-Stainless-Retry-Count: 0\r\nX-Stainless-Runtime: CPython\r\nX-Stainless-Runtime-Version: 3.13.1\r\nContent-Length: 16\r\n\r\n{\"model\":\"some\"}"

// maxAllocs is the recorded baseline: the text of the head, and the body. Of streams each
// event costs nothing.
const maxAllocs = 2

func TestAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would empty the pools
	event, header := []byte("data: {}\n\n"), wire.Header{{Name: "content-type", Value: "text/event-stream"}}
	buf := make([]byte, 4096)
	s := start(t, func(_ context.Context, req *wire.Request, out wire.Responder) error {
		var err error
		for err == nil {
			_, err = req.Body.Read(buf)
		}
		if err != io.EOF {
			return err
		}
		if err := out.Head(200, header, -1); err != nil {
			return err
		}
		for range 10 {
			if _, err := out.Write(event); err != nil {
				return err
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		return nil
	}, func(s *server.Server) { s.IsModelRoute = func(string, string, wire.Header) bool { return true } })
	c := s.dial(t)
	request, got := []byte(chat), make([]byte, 4096)
	once := func() {
		if _, err := c.Conn.Write(request); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 5 || string(got[n-5:n]) != "0\r\n\r\n"; {
			k, err := c.Conn.Read(got[n:])
			if n += k; err != nil {
				t.Fatal(err)
			}
		}
	}
	once()
	if n := testing.AllocsPerRun(500, once); n > maxAllocs && !raceEnabled {
		t.Errorf("a request allocates %.1f times; the baseline is %d", n, maxAllocs)
	}
}
