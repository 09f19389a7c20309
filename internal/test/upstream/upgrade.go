package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// upgrade gives the connection to the demo for a WebSocket.
func (c *conn) upgrade(seen *Seen) {
	req, err := http.NewRequest(seen.Method, "http://"+seen.Host+seen.Target, http.NoBody)
	if err != nil {
		return
	}
	for _, f := range seen.Header {
		req.Header.Add(f.Name, f.Value)
	}
	c.s.demo.ServeHTTP(&hijacker{c: c, head: http.Header{}}, req)
	c.s.seen.update(seen, func(x *Seen) { x.Answered = time.Now() })
}

// hijacker is the http.ResponseWriter of an upgrade: a refusal is written until
// the connection closes.
type hijacker struct {
	c     *conn
	head  http.Header
	wrote bool
}

func (h *hijacker) Header() http.Header { return h.head }

func (h *hijacker) WriteHeader(status int) {
	if h.wrote {
		return
	}
	h.wrote = true
	bw := bufio.NewWriter(h.c.nc)
	fmt.Fprintf(bw, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = h.head.Write(bw)
	_, _ = bw.WriteString("\r\n")
	_ = bw.Flush() // a caller that left shows at the next write
}

func (h *hijacker) Write(p []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.c.nc.Write(p)
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !h.wrote {
		return nil, nil, errors.New("hijacked before the head")
	}
	return h.c.nc, bufio.NewReadWriter(h.c.br, bufio.NewWriter(h.c.nc)), nil
}
