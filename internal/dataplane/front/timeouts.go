package front

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// ClientTimeouts is how long a slow client is waited for. A client that sends or takes
// nothing would otherwise hold a request, and a call of the provider, for ever.
type ClientTimeouts struct {
	Idle       time.Duration // for the next bytes of a request body
	Grace      time.Duration // for all of a body, beyond what its size justifies
	Rate       int64         // bytes a second that a body must come in on average
	WriteStall time.Duration // for the client to take what was written
}

// Usual lets pass the slowest live audio (6 kbit/s) and phones that change cells.
func Usual() ClientTimeouts {
	return ClientTimeouts{Idle: time.Minute, Grace: 2 * time.Minute, Rate: 64, WriteStall: 2 * time.Minute}
}

// Remaining is how long the next bytes of a body are waited for, after so many have come and
// so long was waited for them. It may be zero or less.
func (p *ClientTimeouts) Remaining(got int64, waited time.Duration) time.Duration {
	return min(p.Idle, p.Grace+time.Duration(got/p.Rate)*time.Second-waited)
}

// Leftover is how much of a body that nobody took is read after the answer, in bytes,
// before the connection is closed instead. It is what net/http would read.
const Leftover = 256 << 10

// conn is the connection of a request as far as its deadlines go.
type conn interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// deadlines finds the connection of a ResponseWriter, nil when it does not show it.
func deadlines(w http.ResponseWriter) conn {
	c, _ := w.(conn)
	return c
}

// upload is a request body that must keep coming. Time in which nobody reads it does
// not count: then it is the provider that is slow.
type upload struct {
	body     io.Reader
	conn     conn
	patience ClientTimeouts
	waited   time.Duration
	got      int64
	timed    bool // see timed
}

// Read reads the body within the limits. Passing them is the connection's error
// (os.ErrDeadlineExceeded), and the connection cannot be used again.
func (u *upload) Read(p []byte) (int, error) {
	if u.conn == nil {
		return u.body.Read(p)
	}
	start := time.Now()
	_ = u.conn.SetReadDeadline(start.Add(u.patience.Remaining(u.got, u.waited))) // fails only when closed, as the read does
	n, err := u.body.Read(p)
	u.got += int64(n)
	u.waited += time.Since(start)
	if errors.Is(err, io.EOF) || u.timed { // at the end what the connection waits for from now on is the next request
		_ = u.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// timed reports whether the deadlines of a request are timers that end its stream even
// while nobody reads or writes, as those of net/http's HTTP/2 are. There they may stand
// only as long as somebody waits: a provider may be silent for longer than a client.
func timed(r *http.Request) bool { return r.ProtoMajor == 2 }

// arm bounds the write that follows. Where a deadline does no harm between two writes,
// it is set anew from time to time.
func (o *responder) arm() {
	now := time.Now()
	if now.Sub(o.armed) < o.patience.WriteStall/8 {
		return
	}
	if c := deadlines(o.w); c != nil {
		o.armed = now
		_ = c.SetWriteDeadline(now.Add(o.patience.WriteStall)) // fails only when closed, as the write does
	}
}

// rest takes the bound away behind a write if it would end the stream.
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

// release ends the answer's use of the connection. What net/http still holds of it goes
// out when the handler has returned: over HTTP/2 within a last deadline, which ends with
// the stream. A connection of HTTP/1 would keep the deadline for its next request, so
// there it goes out now, unless it is so little that buffers of the system take it.
func (o *responder) release() {
	if o.timed {
		o.arm()
		return
	}
	if o.sent >= countedBytes {
		_ = o.Flush() // the client may be gone
	}
	o.disarm()
}
