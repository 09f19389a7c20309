package front

import (
	"io"
	"net/http"
	"time"
)

// patience is how long a slow client is waited for. A client that sends or takes
// nothing would otherwise hold a request, and a call of the provider, for ever.
type patience struct {
	idle  time.Duration // for the next bytes of a request body
	grace time.Duration // for all of a body, beyond what its size justifies
	rate  int64         // bytes a second that a body must come in on average
	stall time.Duration // for the client to take what was written
}

// usual lets pass the slowest live audio (6 kbit/s) and phones that change cells.
var usual = patience{idle: time.Minute, grace: 2 * time.Minute, rate: 64, stall: 2 * time.Minute}

// unwatched is how much of an answer goes into buffers of the system, so that
// writing it cannot block.
const unwatched = 64 << 10

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
	patience patience
	waited   time.Duration
	got      int64
}

// Read reads the body within the limits. Passing them is the connection's error
// (os.ErrDeadlineExceeded), and the connection cannot be used again.
func (u *upload) Read(p []byte) (int, error) {
	if u.conn == nil {
		return u.body.Read(p)
	}
	start, l := time.Now(), &u.patience
	left := l.grace + time.Duration(u.got/l.rate)*time.Second - u.waited
	_ = u.conn.SetReadDeadline(start.Add(min(l.idle, left))) // fails only when closed, as the read does
	n, err := u.body.Read(p)
	u.got += int64(n)
	u.waited += time.Since(start)
	if err != nil { // the end: what the connection waits for from now on is the next request
		_ = u.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// arm bounds the writes that follow, anew from time to time.
func (o *responder) arm() {
	now := time.Now()
	if now.Sub(o.armed) < o.patience.stall/8 {
		return
	}
	if c := deadlines(o.w); c != nil {
		o.armed = now
		_ = c.SetWriteDeadline(now.Add(o.patience.stall)) // fails only when closed, as the write does
	}
}

// release takes the bound away for the next request of the connection.
func (o *responder) release() {
	if !o.armed.IsZero() {
		_ = deadlines(o.w).SetWriteDeadline(time.Time{})
	}
}
