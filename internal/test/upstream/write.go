package upstream

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var errLeft = errors.New("the caller left")

// respond sends an answer and reports whether the connection can have another
// request.
func (c *conn) respond(seen *Seen, r Response) bool {
	var gone <-chan struct{}
	stop := func() {}
	if r.waits() && !r.Early { // before the body is read, its bytes would hide the caller's leaving
		gone, stop = c.watch(seen)
	}
	w := &writer{c: c, bw: bufio.NewWriterSize(c.nc, 64<<10), gone: gone}
	err := w.send(r, seen.Method == http.MethodHead)
	if err == nil && r.End == Hang {
		c.s.hold(gone)
		err = errLeft
	}
	if err == nil {
		c.s.seen.update(seen, func(x *Seen) {
			if x.Cancelled.IsZero() {
				x.Answered = time.Now()
			}
		})
	} else {
		c.left(seen)
	}
	stop()
	return err == nil && c.end(r)
}

// end does what the reply wants of the connection.
func (c *conn) end(r Response) bool {
	switch r.End {
	case KeepAlive:
		return r.Framing != UntilClose && r.Raw == nil
	case Close:
		_ = c.nc.Close()
	case Cut:
		_ = c.raw.Close() // under TLS without the alert that ends a session in order
	case Stale:
		_, _ = c.br.Peek(1)
		c.reset()
	default:
		c.reset()
	}
	return false
}

// writer puts one reply on the wire.
type writer struct {
	c    *conn
	bw   *bufio.Writer
	gone <-chan struct{}
}

func (w *writer) send(r Response, headOnly bool) error {
	if err := w.wait(r.Wait); err != nil {
		return err
	}
	for _, status := range r.Interim {
		fmt.Fprintf(w.bw, "HTTP/1.1 %d %s\r\nLink: </style.css>; rel=preload\r\n\r\n", status, http.StatusText(status))
	}
	if r.Raw != nil {
		_, _ = w.bw.Write(r.Raw)
		r.Framing = UntilClose
	} else {
		_, _ = w.bw.WriteString(head(r))
	}
	if headOnly || r.status() == http.StatusNoContent || r.status() == http.StatusNotModified {
		return w.bw.Flush()
	}
	for _, p := range r.Chunks {
		if err := w.writeChunk(p, r.Framing == Chunked); err != nil {
			return err
		}
	}
	if r.Framing == Chunked && (r.End == KeepAlive || r.End == Close || r.End == Stale) {
		_, _ = w.bw.WriteString("0\r\n" + lines(r.Trailer) + "\r\n")
	}
	return w.bw.Flush() // the first error of any write above comes out here
}

func (w *writer) writeChunk(p Chunk, chunked bool) error {
	for range p.times() {
		if err := w.wait(p.Wait); err != nil {
			return err
		}
		switch {
		case len(p.Bytes) == 0:
			continue // as a chunk it would be the last
		case chunked:
			fmt.Fprintf(w.bw, "%x\r\n%s\r\n", len(p.Bytes), p.Bytes)
		default:
			_, _ = w.bw.Write(p.Bytes)
		}
		if err := w.bw.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// wait sends what is ready, then pauses.
func (w *writer) wait(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if err := w.bw.Flush(); err != nil {
		return err
	}
	if !w.c.s.sleep(d, w.gone) {
		return errLeft
	}
	return nil
}

// head is the status line and the header with its framing line.
func head(r Response) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", r.status(), http.StatusText(r.status()))
	b.WriteString(lines(r.Header))
	switch {
	case r.status() == http.StatusNoContent || r.status() == http.StatusNotModified:
	case r.Framing == Chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	case r.Framing == Length && r.Claim != 0:
		b.WriteString("Content-Length: " + strconv.FormatInt(r.Claim, 10) + "\r\n")
	case r.Framing == Length:
		b.WriteString("Content-Length: " + strconv.FormatInt(r.size(), 10) + "\r\n")
	}
	b.WriteString("\r\n")
	return b.String()
}

func lines(fields []Field) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	return b.String()
}
