package h1

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// connSet is the connections that are open, and looks after those whose client waits.
type connSet struct {
	mu    sync.Mutex // guards conns and shut
	conns []*conn    // each knows its place
	shut  bool       // takes no more

	asleep atomic.Bool   // nobody looks after clients, because none waits
	wake   chan struct{} // ends that
	ended  chan struct{} // closed with shut; nil before open
}

func (w *connSet) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake, w.ended = make(chan struct{}, 1), make(chan struct{})
	if w.shut {
		close(w.ended)
	}
}

// add takes a connection in, unless everything is being closed.
func (w *connSet) add(c *conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shut {
		return false
	}
	c.setIndex = len(w.conns)
	w.conns = append(w.conns, c)
	return true
}

func (w *connSet) remove(c *conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.conns) - 1
	moved := w.conns[last]
	w.conns[c.setIndex], moved.setIndex = moved, c.setIndex
	w.conns[last] = nil
	w.conns = w.conns[:last]
}

// each calls see for every connection and returns how many there are.
func (w *connSet) each(see func(*conn)) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		see(c)
	}
	return len(w.conns)
}

// drainEvery is how often connections are looked at that have to end.
const drainEvery = 10 * time.Millisecond

// drain closes connections as soon as they are unused and returns when there are none.
func (w *connSet) drain(ctx context.Context) error {
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for {
		now := time.Now()
		if w.each(func(c *conn) { c.closeUnused(now) }) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// close cuts all connections and takes no more.
func (w *connSet) close() {
	w.each((*conn).abort)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.shut {
		w.shut = true
		if w.ended != nil {
			close(w.ended)
		}
	}
}

const (
	// pollInterval is how often the clients that wait are looked at: half of the time in
	// which a call ends whose client has left.
	pollInterval = 50 * time.Millisecond
	// maxIdlePolls is how many looks find no client waiting before nobody looks any more,
	// so that a gateway without traffic sleeps.
	maxIdlePolls = 20
)

// watch ends the calls of clients that have left. It costs a look at all of them now
// and then; a look of its own for each request would cost more than reading it.
func (w *connSet) watch() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var poller disconnectPoller
	for vain := 0; ; {
		select {
		case <-tick.C:
		case <-w.ended:
			return
		}
		if poller.poll(w) > 0 {
			vain = 0
			continue
		}
		if vain++; vain < maxIdlePolls {
			continue
		}
		vain = 0
		w.asleep.Store(true)
		if poller.poll(w) > 0 && w.asleep.CompareAndSwap(true, false) { // it came before the flag was there to see
			continue
		}
		select {
		case <-w.wake:
		case <-w.ended:
			return
		}
	}
}

// wakeUp has watch go on, because a client waits.
func (w *connSet) wakeUp() {
	if w.asleep.Load() && w.asleep.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}
