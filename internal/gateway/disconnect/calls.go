// Package disconnect continues provider calls whose clients disconnected or whose timeout passed.
// Such a call is read to its end within limits, so that the usage at its end is known. Start
// reading at Calls.Detach.
package disconnect

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Limits are the limits for abandoned streams, or for abandoned buffered responses. The zero value
// cancels each call as soon as its client disconnects. Source: docs/money.md.
type Limits struct {
	Max   int           // maximum read at once; further ones are cancelled. 0: all are cancelled
	Bytes int64         // maximum read of one after its client disconnected
	Time  time.Duration // maximum time for one from then on
}

// ErrLeft ends the reading of an abandoned call: it is complete, or its limit is reached.
var ErrLeft = errors.New("the client disconnected")

// Calls contains the abandoned calls that are still read. It is safe for concurrent use.
type Calls struct {
	streams   set
	responses set // buffered responses
}

// New returns an empty set with the limits for streams and for buffered responses.
func New(streams, responses Limits) *Calls {
	return &Calls{streams: set{limits: streams}, responses: set{limits: responses}}
}

// Streams returns the number of streams that are still read after their clients disconnected.
func (c *Calls) Streams() int { return c.streams.size() }

// Responses returns the number of buffered responses that are still read after they were
// abandoned.
func (c *Calls) Responses() int { return c.responses.size() }

// Cancel cancels all abandoned calls and, from now on, each one at once when its client
// disconnects. It is for a gateway that stops. The goroutines that read the calls write their
// records.
func (c *Calls) Cancel() {
	c.streams.cancel()
	c.responses.cancel()
}

// Detach returns the context for a provider call and the call, which the caller must release. If
// the limits permit it, the call may outlive ctx: when its response is buffered, or once its
// stream has begun. Otherwise Detach returns ctx and nil.
func (c *Calls) Detach(ctx context.Context, buffered bool) (context.Context, *Call) {
	in, begun := &c.streams, awaited
	if buffered {
		in, begun = &c.responses, streamed
	}
	if in.limits.Max == 0 {
		return ctx, nil
	}
	detachedCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &Call{all: c, set: in, phase: begun, cancel: cancel}
	o.unhook = context.AfterFunc(ctx, func() { o.ClientLeft() })
	return detachedCtx, o
}

// set is the set of abandoned streams or of abandoned buffered responses. It is safe for
// concurrent use.
type set struct {
	limits Limits

	mu     sync.Mutex // guards what follows
	calls  map[*Call]struct{}
	closed bool
}

// acquire adds o to the set. It returns false if the set is closed or full.
func (s *set) acquire(o *Call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.calls) >= s.limits.Max {
		return false
	}
	if s.calls == nil {
		s.calls = make(map[*Call]struct{})
	}
	s.calls[o] = struct{}{}
	return true
}

func (s *set) release(o *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, o)
}

func (s *set) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

func (s *set) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for o := range s.calls {
		o.cancel()
	}
}
