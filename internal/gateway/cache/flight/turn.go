package flight

import (
	"context"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
)

// Turn is the right of a caller to run its call. The first of Share, Release and Fail ends it;
// later ones do nothing, so a deferred Fail is safe. A Turn belongs to one goroutine.
type Turn struct {
	group *Group
	key   cachekey.Key
	work  *work // nil: no other caller waits for this call
	ended bool  // written by the goroutine of the turn, with group.mu held
}

// Context returns the context for the call to the provider. If the client leaves, it remains valid
// as long as other callers wait for the response. It has no deadline. The caller must call cancel
// when the call has ended.
func (t *Turn) Context(client context.Context) (ctx context.Context, cancel context.CancelFunc) {
	if t.work == nil {
		return context.WithCancel(client)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(client))
	detach := context.AfterFunc(client, func() { t.clientLeft(stop) })
	return ctx, func() {
		detach()
		stop()
	}
}

// clientLeft ends the call, now or when the last follower leaves.
func (t *Turn) clientLeft(cancel context.CancelFunc) {
	g, w := t.group, t.work
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.ended { // another leader may run the work now
		cancel()
		return
	}
	w.clientGone, w.cancel = true, cancel
	if w.followers == 0 {
		g.abandon(t.key, w)
	}
}

// Share gives the entry to all followers. It must be in the store already, because later callers
// look there.
func (t *Turn) Share(e *entry.Entry) { t.end(e) }

// Release lets each follower run its call itself: the call succeeded, but its response may not be
// stored. They run at the same time, as they would without a cache.
func (t *Turn) Release() { t.end(nil) }

// Fail reports that the call failed. One of the followers leads next. After three failed leaders,
// each follower runs its call itself.
func (t *Turn) Fail() {
	if t.ended || t.work == nil {
		return
	}
	g, w := t.group, t.work
	g.mu.Lock()
	handOver := w.leaders < maxLeaders && w.followers > 0 && g.works[t.key] == w
	if handOver {
		t.ended = true
		w.clientGone, w.cancel = false, nil
		w.handed <- struct{}{}
	}
	g.mu.Unlock()
	t.end(nil)
}

func (t *Turn) end(e *entry.Entry) {
	if t.ended || t.work == nil {
		return
	}
	g, w := t.group, t.work
	g.mu.Lock()
	t.ended = true
	g.forget(t.key, w)
	w.entry = e
	g.mu.Unlock()
	close(w.ended)
}
