// Package flight makes equal calls that run at the same time reach the provider once. The first
// caller of a key leads: it runs the call. The others follow: they wait, and receive the entry
// that the leader shares. Start with Group.Enter.
//
// The package starts no goroutines, does not call providers and does not store entries.
package flight

import (
	"context"
	"sync"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
)

// maxLeaders is how many leaders may fail, one after the other, until all followers run
// their calls themselves. So 1,000 callers of a provider that fails do not wait for 1,000 failures.
const maxLeaders = 3

// Group joins equal calls. The zero value is ready to use. It is safe for concurrent use.
type Group struct {
	mu    sync.Mutex // guards works and their fields
	works map[cachekey.Key]*work
}

// work is one call that several callers share.
type work struct {
	ended  chan struct{} // closed when the followers are released
	entry  *entry.Entry  // set before ended is closed; nil: each follower runs its call itself
	handed chan struct{} // has an element while a follower should lead next

	followers  int
	leaders    int // number of leaders so far
	clientGone bool
	cancel     context.CancelFunc // of the leader's call; nil until clientGone
}

// Enter joins the calls of a key. It returns one of three results:
//
//   - A turn: the caller runs the call. If the caller leads, others may wait for it, so it must end
//     the turn with Share, Release or Fail in every case. It looks into the store once more
//     first, because another leader may have ended since its first lookup.
//   - An entry: another caller ran the call. The entry is shared; do not change it.
//   - An error: ctx ended while the caller waited.
func (g *Group) Enter(ctx context.Context, key cachekey.Key) (*Turn, *entry.Entry, error) {
	w, leads := g.join(key)
	if leads {
		return &Turn{group: g, key: key, work: w}, nil, nil
	}
	select {
	case <-w.ended:
		g.leave(key, w)
		if w.entry != nil {
			return nil, w.entry, nil
		}
		return &Turn{}, nil, nil
	case <-w.handed:
		g.lead(w)
		return &Turn{group: g, key: key, work: w}, nil, nil
	case <-ctx.Done():
		g.leave(key, w)
		return nil, nil, ctx.Err()
	}
}

// join returns the work of a key. The caller leads if it is new, and follows otherwise.
func (g *Group) join(key cachekey.Key) (w *work, leads bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w := g.works[key]; w != nil {
		w.followers++
		return w, false
	}
	if g.works == nil {
		g.works = make(map[cachekey.Key]*work)
	}
	w = &work{ended: make(chan struct{}), handed: make(chan struct{}, 1), leaders: 1}
	g.works[key] = w
	return w, true
}

// lead makes a follower the leader.
func (g *Group) lead(w *work) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.followers--
	w.leaders++
	w.clientGone, w.cancel = false, nil
}

// leave removes a follower. Work that no caller waits for ends.
func (g *Group) leave(key cachekey.Key, w *work) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.followers--
	if w.followers == 0 && (w.clientGone || len(w.handed) > 0) {
		g.abandon(key, w)
	}
}

// abandon ends work that no caller waits for. The caller holds g.mu.
func (g *Group) abandon(key cachekey.Key, w *work) {
	g.forget(key, w)
	if w.cancel != nil {
		w.cancel()
	}
}

// forget makes the next caller of the key a leader. The caller holds g.mu.
func (g *Group) forget(key cachekey.Key, w *work) {
	if g.works[key] == w {
		delete(g.works, key)
	}
}

// Waiting returns the number of callers that wait for others.
func (g *Group) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, w := range g.works {
		n += w.followers
	}
	return n
}
