// Package background polls responses that providers continue after they answered
// ("background": true). Polling finds out the usage of such a response, so that it is billed by
// it. Start reading at Poller.
package background

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
)

// Limits are the limits for polling background responses. The zero value polls no response: each
// is charged its maximum cost. Source: docs/money.md.
type Limits struct {
	Responses int           // maximum polled at once; further ones are charged their maximum cost
	Time      time.Duration // maximum time to poll one, from the start of its call
	Pause     time.Duration // before the first poll of one; it grows up to MaxPause
	MaxPause  time.Duration
}

// ErrFull is the reason why a further response is not polled.
var ErrFull = errors.New("the limit of background responses is reached (BACKGROUND_RESPONSES_MAX)")

// Poller contains the background responses that are polled, by workspace and id. It is safe for
// concurrent use.
type Poller struct {
	limits Limits
	clock  ident.Clock
	log    *slog.Logger
	polls  chan struct{} // one slot for each concurrent poll
	bell   chan struct{}

	mu     sync.Mutex // guards the fields below
	number int
	byID   map[string]*Response // when a provider repeats an id, the newest
	fresh  []*Response          // not polled yet
	closed bool
}

// New returns a Poller. It polls nothing until Run.
func New(l Limits, clock ident.Clock, log *slog.Logger) *Poller {
	return &Poller{limits: l, clock: clock, log: log, polls: make(chan struct{}, maxConcurrentPolls), bell: make(chan struct{}, 1), byID: map[string]*Response{}}
}

// HasCapacity reports whether another response can be added.
func (p *Poller) HasCapacity() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && p.number < p.limits.Responses
}

// Add passes a response to Run. After Run has ended, it abandons the response.
func (p *Poller) Add(b *Response) {
	if !p.add(b) {
		p.abandon(b, record.Interrupted, stoppedReason)
	}
}

func (p *Poller) add(b *Response) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	b.soon, b.ended = make(chan pollDone, 1), make(chan struct{})
	p.number++
	p.byID[b.key()], p.fresh = b, append(p.fresh, b)
	select {
	case p.bell <- struct{}{}:
	default:
	}
	return true
}

// begun returns the responses added since the last call.
func (p *Poller) begun() []*Response {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh := p.fresh
	p.fresh = nil
	return fresh
}

func (p *Poller) remove(b *Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number--; p.byID[b.key()] == b {
		delete(p.byID, b.key())
	}
	close(b.ended)
}

// close rejects further responses.
func (p *Poller) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

func (p *Poller) find(workspace, id string) *Response {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byID[key(workspace, id)]
}

// Len returns the number of polled responses. Their callers already have a response.
func (p *Poller) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.number
}

// RequestPoll requests an immediate poll of a response, because a caller has seen its end.
func (p *Poller) RequestPoll(workspace, id string) {
	if b := p.find(workspace, id); b != nil {
		select {
		case b.soon <- make(pollDone):
		default: // another poll is already requested
		}
	}
}

// PollBeforeDelete polls a response before a caller deletes it, because its result cannot be read
// afterwards. It waits at most two seconds.
func (p *Poller) PollBeforeDelete(ctx context.Context, workspace, id string) {
	b := p.find(workspace, id)
	if b == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, finalPollTimeout)
	defer cancel()
	finished := make(pollDone)
	select {
	case b.soon <- finished:
	case <-b.ended:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-finished:
	case <-b.ended:
	case <-ctx.Done():
	}
}
