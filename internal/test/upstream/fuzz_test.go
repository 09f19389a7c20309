package upstream_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"sluice/internal/test/upstream"
)

// FuzzServer: no bytes on a connection, and no fault that they name, stop the
// server from answering the next caller.
func FuzzServer(f *testing.F) {
	f.Add([]byte(post("/v1/chat/completions", chat("fault:cut-stream@x*2#l", true))))
	f.Add([]byte("POST /v1/fault/chunked@-1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
	f.Add([]byte("GET /v1/fault/early-hints@-5 HTTP/1.1\r\n\r\n"))
	f.Add([]byte("GET /v1/models?fault=%zz HTTP/1.1\r\nExpect: 100-continue\r\n\r\nGET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("GET /v1/realtime?model=m HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"))
	f.Add([]byte("POST /v1/files HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9\r\n\r\n--b\r\n\r\n\r\n"))
	up, err := upstream.Open()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(up.Close)
	f.Cleanup(http.DefaultClient.CloseIdleConnections)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := net.Dial("tcp", up.Addr())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(b)
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.CopyN(io.Discard, c, 1<<20)
		_ = c.Close()
		res, err := http.Get(up.URL() + "/v1/models")
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("the server is gone: %v", err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	})
}
