package dataplane

import (
	"context"
	"sync"

	"sluice/internal/llm"
)

// pollDone is closed when a look that was asked for is over.
type pollDone chan struct{}

// backgroundPoller are the responses that are followed, by workspace and id. Safe for concurrent use.
type backgroundPoller struct {
	polls chan struct{} // a place for each look
	bell  chan struct{}

	mu     sync.Mutex // guards what follows
	number int
	byID   map[string]*backgrounded // byID providers that repeat an id the newest
	fresh  []*backgrounded          // that nobody follows yet
	closed bool
}

func newFollowers() *backgroundPoller {
	return &backgroundPoller{polls: make(chan struct{}, maxConcurrentPolls), bell: make(chan struct{}, 1), byID: map[string]*backgrounded{}}
}

// hasCapacity reports whether one of most has a place.
func (f *backgroundPoller) hasCapacity(maxJobs int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closed && f.number < maxJobs
}

// add has b followed; false when nobody will do that any more.
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

// begun are those that entered since the last time.
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

// close lets no more in.
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

// Background is the number of responses that are followed although their callers have been
// answered.
func (g *Gateway) Background() int {
	g.followers.mu.Lock()
	defer g.followers.mu.Unlock()
	return g.followers.number
}

// requestPoll has a response that is followed looked at at once: a caller heard of its end.
func (g *Gateway) requestPoll(x *exchange) {
	if b := g.followers.find(x.key.Principal.WorkspaceID, x.match.ID); b != nil {
		select {
		case b.soon <- make(pollDone):
		default: // another one asked before
		}
	}
}

// pollBefore has a response that is followed looked at before a caller deletes it, since
// nobody can hear of its end afterwards.
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
