package dataplane

import (
	"context"
	"sync"

	"sluice/internal/llm"
)

// pollDone is closed when a requested poll is complete.
type pollDone chan struct{}

// backgroundPoller contains the background responses that are polled, by workspace and id. It is
// safe for concurrent use.
type backgroundPoller struct {
	polls chan struct{} // one slot for each concurrent poll
	bell  chan struct{}

	mu     sync.Mutex // guards the fields below
	number int
	byID   map[string]*backgrounded // when a provider repeats an id, the newest
	fresh  []*backgrounded          // not polled yet
	closed bool
}

func newFollowers() *backgroundPoller {
	return &backgroundPoller{polls: make(chan struct{}, maxConcurrentPolls), bell: make(chan struct{}, 1), byID: map[string]*backgrounded{}}
}

// hasCapacity reports whether another response can be added below maxJobs.
func (f *backgroundPoller) hasCapacity(maxJobs int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closed && f.number < maxJobs
}

// add starts polling b. It returns false after close.
func (f *backgroundPoller) add(b *backgrounded) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.number++
	f.byID[b.key()], f.fresh = b, append(f.fresh, b)
	select {
	case f.bell <- struct{}{}:
	default:
	}
	return true
}

// begun returns the responses added since the last call.
func (f *backgroundPoller) begun() []*backgrounded {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := f.fresh
	f.fresh = nil
	return fresh
}

func (f *backgroundPoller) remove(b *backgrounded) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.number--; f.byID[b.key()] == b {
		delete(f.byID, b.key())
	}
	close(b.ended)
}

// close rejects further responses.
func (f *backgroundPoller) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

func (f *backgroundPoller) find(workspace, id string) *backgrounded {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byID[workspace+"/"+id]
}

func (b *backgrounded) key() string { return b.x.key.Principal.WorkspaceID + "/" + b.id }

// Background returns the number of polled responses whose callers already have a response.
func (g *Gateway) Background() int {
	g.followers.mu.Lock()
	defer g.followers.mu.Unlock()
	return g.followers.number
}

// requestPoll requests an immediate poll of a background response, because a caller has seen its
// end.
func (g *Gateway) requestPoll(x *exchange) {
	if b := g.followers.find(x.key.Principal.WorkspaceID, x.match.ID); b != nil {
		select {
		case b.soon <- make(pollDone):
		default: // another poll is already requested
		}
	}
}

// pollBefore polls a background response before a caller deletes it, because its result cannot be
// read afterwards. It waits at most finalPollTimeout.
func (g *Gateway) pollBefore(ctx context.Context, x *exchange) {
	if x.match.Endpoint != llm.DeleteModelResponse {
		return
	}
	b := g.followers.find(x.key.Principal.WorkspaceID, x.match.ID)
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
