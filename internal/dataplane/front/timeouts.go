package front

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// ClientTimeouts limits the time that the server waits for a slow client. Without limits a client
// that does not send or read would hold a request, and a provider call, forever.
type ClientTimeouts struct {
	Idle       time.Duration // for the next bytes of a request body
	Grace      time.Duration // for a complete body, in addition to the time that its size permits
	Rate       int64         // minimum average speed of a body, in bytes a second
	WriteStall time.Duration // for the client to read what was written
}

// Usual returns limits that permit the slowest live audio (6 kbit/s) and phones that change
// cells.
func Usual() ClientTimeouts {
	return ClientTimeouts{Idle: time.Minute, Grace: 2 * time.Minute, Rate: 64, WriteStall: 2 * time.Minute}
}

// Remaining returns the maximum time to wait for the next bytes of a body, after got bytes were
// received in the time waited. It may be zero or negative.
func (p *ClientTimeouts) Remaining(got int64, waited time.Duration) time.Duration {
	return min(p.Idle, p.Grace+time.Duration(got/p.Rate)*time.Second-waited)
}

// Leftover is the maximum number of unread body bytes that are read after the response. If more
// remain, the connection is closed. It is the limit of net/http.
const Leftover = 256 << 10

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
	patience ClientTimeouts
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
