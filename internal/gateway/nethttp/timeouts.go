package nethttp

import (
	"errors"
	"io"
	"net/http"
	"time"

	"sluice/internal/http1/server"
)

// conn sets the deadlines of a request's connection.
type conn interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// deadlines returns the connection of a ResponseWriter, or nil if it is not accessible.
func deadlines(w http.ResponseWriter) conn {
	c, _ := w.(conn)
	return c
}

// upload is a request body whose client must keep sending. Only the time inside Read counts:
// otherwise the provider is slow, not the client.
type upload struct {
	body     io.Reader
	conn     conn
	patience server.ClientTimeouts
	waited   time.Duration
	got      int64
	timed    bool // see timed
}

// Read reads the body within the limits. After a limit it returns the connection's error
// (os.ErrDeadlineExceeded), and the connection cannot be used again.
func (u *upload) Read(p []byte) (int, error) {
	if u.conn == nil {
		return u.body.Read(p)
	}
	start := time.Now()
	_ = u.conn.SetReadDeadline(start.Add(u.patience.Remaining(u.got, u.waited))) // fails only on a closed connection, as the read does
	n, err := u.body.Read(p)
	u.got += int64(n)
	u.waited += time.Since(start)
	if errors.Is(err, io.EOF) || u.timed { // after the end, the connection waits for the next request
		_ = u.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// timed reports whether the deadlines of a request are timers that end its stream even while
// nothing is read or written, as in net/http's HTTP/2. Then a deadline may only be set during a
// read or write: a provider may be silent for longer than a client.
func timed(r *http.Request) bool { return r.ProtoMajor == 2 }

// arm sets the deadline of the next write. If a deadline does no harm between writes, it is set
// again only at intervals.
func (o *responder) arm() {
	now := time.Now()
	if now.Sub(o.armed) < o.patience.WriteStall/8 {
		return
	}
	if c := deadlines(o.w); c != nil {
		o.armed = now
		_ = c.SetWriteDeadline(now.Add(o.patience.WriteStall)) // fails only on a closed connection, as the write does
	}
}

// rest removes the deadline after a write if it would end the stream.
func (o *responder) rest() {
	if o.timed {
		o.disarm()
	}
}

func (o *responder) disarm() {
	if !o.armed.IsZero() {
		o.armed = time.Time{}
		_ = deadlines(o.w).SetWriteDeadline(time.Time{})
	}
}

// release ends the response's use of the connection. net/http sends its buffered rest after the
// handler has returned: over HTTP/2 within a last deadline, which ends with the stream. An HTTP/1
// connection would retain the deadline for its next request. Therefore the rest is sent now,
// unless it is so small that buffers of the system can store it.
func (o *responder) release() {
	if o.timed {
		o.arm()
		return
	}
	if o.sent >= countedBytes {
		_ = o.Flush() // the client may have disconnected
	}
	o.disarm()
}
