package transport

import (
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
)

// Response is the response of an upstream.
type Response struct {
	Status int // 200 to 999; interim responses are skipped
	// Header contains all lines, including hop-by-hop lines, with lower-case names and unchanged
	// values. The caller selects the lines to relay.
	Header wire.Header
	// Length is the number of bytes of the body, or -1 when it is unknown. It is 0 for a
	// response without a body, whatever Content-Length states.
	Length int64
	// UntilClose is true when only the end of the connection ends the body. An early end is then
	// not detectable.
	UntilClose bool
	Body       Body   // never nil
	Proto      string // "HTTP/1.1", "HTTP/1.0" or "HTTP/2.0"
	// Queue is the time that the call waited for a connection that another call was opening.
	// Connect is the time for opening its own connection, including TLS. Connect is 0 on a
	// reused connection.
	Queue, Connect time.Duration
}

// Body is the body of a response. It belongs to one goroutine. To interrupt a Read from another
// goroutine, cancel the context given to Do.
type Body interface {
	// Read returns the bytes of one read of the upstream, without framing, and never waits to
	// fill p. The last bytes come together with io.EOF when the end is already known. The
	// package comment lists the errors. An error is permanent.
	Read(p []byte) (int, error)
	// Close returns the connection to the pool when the body was read to its end, and closes it
	// otherwise. It may be called more than once and always returns nil.
	Close() error
}

var (
	_ Body = (*body)(nil)
	_ Body = (*stream)(nil)
)

// timing contains the times of one call.
type timing struct {
	start time.Time
	limit time.Time     // deadline for the head; zero means none
	head  time.Duration // Request.HeadTimeout

	queue, connect time.Duration // of the Response
}

// since adds the time since from to one of the durations.
func (t *timing) since(d *time.Duration, from time.Time) { *d += time.Since(from) }

func newTiming(r *Request) timing {
	t := timing{start: time.Now(), head: r.HeadTimeout}
	if r.HeadTimeout > 0 {
		t.limit = t.start.Add(r.HeadTimeout)
	}
	return t
}

// ReadAll returns the body of at most limit bytes, and closes it. A larger or incomplete body is
// fault.UpstreamFailed.
func (r *Response) ReadAll(limit int64) ([]byte, error) {
	s := wire.NewSpool("")
	defer func() {
		_ = s.Close() // closing loses no data
		_ = r.Body.Close()
	}()
	if err := s.Fill(r.Body, r.Length, limit); err != nil {
		return nil, fault.Wrap(fault.UpstreamFailed, err)
	}
	b, err := s.Bytes()
	return append([]byte(nil), b...), err
}
