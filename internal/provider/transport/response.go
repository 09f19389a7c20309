package transport

import (
	"time"

	"sluice/internal/wire"
)

// Response is the answer of an upstream.
type Response struct {
	Status int // 200 to 999; interim answers are skipped
	// Header holds all lines, names in lower case, values as they came, those of
	// the connection included: what is relayed is for the caller to choose.
	Header wire.Header
	// Length is the number of bytes of the body, -1 when it is not known. It is 0
	// when there is no body, whatever a Content-Length line says.
	Length int64
	// UntilClose is set when nothing but the end of the connection ends the body,
	// so that an early end cannot be told from a proper one.
	UntilClose bool
	Body       Body   // never nil
	Proto      string // "HTTP/1.1", "HTTP/1.0" or "HTTP/2.0"
	// Queue is how long the call waited for a connection that another call was opening,
	// Connect how long it took to open one of its own, TLS included; 0 on a kept one.
	Queue, Connect time.Duration
}

// Body is the body of an answer. It belongs to one goroutine; to interrupt a Read
// from another, cancel the context given to Do.
type Body interface {
	// Read returns what one read of the upstream delivered, without framing, and
	// never waits to fill p. The last bytes come together with io.EOF when the end
	// is known by then. Errors are listed in the package comment; they stay.
	Read(p []byte) (int, error)
	// Close gives the connection back when the body was read to its end, and cuts
	// it otherwise. It may be called more than once and always returns nil.
	Close() error
}

var (
	_ Body = (*body)(nil)
	_ Body = (*stream)(nil)
)

// timing holds the points in time of one call.
type timing struct {
	start time.Time
	limit time.Time     // for the head; zero means none
	head  time.Duration // Request.HeadTimeout

	queue, connect time.Duration // of the Response
}

// since adds the time since a moment to one of the durations.
func (t *timing) since(d *time.Duration, from time.Time) { *d += time.Since(from) }

func newTiming(r *Request) timing {
	t := timing{start: time.Now(), head: r.HeadTimeout}
	if r.HeadTimeout > 0 {
		t.limit = t.start.Add(r.HeadTimeout)
	}
	return t
}
