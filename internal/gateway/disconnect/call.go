package disconnect

import (
	"context"
	"sync"
	"time"

	"sluice/internal/provider/transport"
)

// Call is a provider call that may outlive its client. Its context ends with the client's, unless
// its response is buffered or its stream has begun, and the limits permit further reading. A nil
// Call never outlives its client. It is safe for concurrent use.
type Call struct {
	all    *Calls
	cancel context.CancelFunc
	unhook func() bool

	mu    sync.Mutex // guards what follows
	set   *set
	phase phase
	bytes int64 // read since the client disconnected
	timer *time.Timer
}

// phase is the progress of a call.
type phase uint8

const (
	awaited  phase = iota // a stream has not begun: the call ends with its client
	streamed              // a stream has begun or the response is buffered, and the client is connected
	detached              // the client disconnected, and the response is still read
	ended
)

// IsBuffered reports whether the call has a buffered response.
func (o *Call) IsBuffered() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.set == &o.all.responses
}

// Detach separates the call from its client, which does not wait for the response any longer. It
// returns false if the response may not be read further.
func (o *Call) Detach() bool {
	if o == nil {
		return false
	}
	o.unhook()
	return o.ClientLeft()
}

// BeginStream records that a stream has begun, whose end may contain usage. If the call was
// treated as buffered, because the request does not show that it streams, the limits of streams
// apply from now on.
func (o *Call) BeginStream() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch streams := &o.all.streams; {
	case o.phase >= detached:
	case o.set == streams:
		o.phase = streamed
	default:
		if o.set = streams; streams.limits.Max == 0 {
			o.phase = awaited
		}
	}
}

// ClientLeft handles the disconnect of the client. It reports whether the response is still read.
func (o *Call) ClientLeft() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.phase == streamed && o.set.acquire(o):
		o.phase = detached
		o.timer = time.AfterFunc(o.set.limits.Time, o.cancel)
	case o.phase < detached:
		o.phase = ended
		o.cancel()
	}
	return o.phase == detached
}

// IsDetached reports whether the client disconnected and the response is still read.
func (o *Call) IsDetached() bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.phase == detached
}

// CountRead counts n bytes read of an abandoned call. It returns ErrLeft when the limit is
// reached.
func (o *Call) CountRead(n int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes += int64(n); o.bytes >= o.set.limits.Bytes {
		return ErrLeft
	}
	return nil
}

// Release ends the call's context and removes it from the set. The body must be closed or read to
// its end before.
func (o *Call) Release() {
	if o == nil {
		return
	}
	o.unhook()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.phase == detached {
		o.timer.Stop()
		o.set.release(o)
	}
	o.phase = ended
	o.cancel()
}

// LimitBody returns the body of the call's buffered response. After the client disconnected, it
// ends with ErrLeft once the call has read enough.
func (o *Call) LimitBody(b transport.Body) transport.Body { return &limitedBody{b, o} }

type limitedBody struct {
	transport.Body
	call *Call
}

// Read implements io.Reader.
func (r *limitedBody) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	if err == nil && r.call.IsDetached() {
		err = r.call.CountRead(n)
	}
	return n, err
}
