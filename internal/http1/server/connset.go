package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// connSet is the set of open connections. It detects disconnects of clients that wait for a
// response.
type connSet struct {
	mu    sync.Mutex // guards conns and shut
	conns []*conn    // each stores its index
	shut  bool       // does not accept connections any more

	asleep atomic.Bool   // watch is paused, because no client waits
	wake   chan struct{} // resumes watch
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

// add adds a connection, unless the set is closed.
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

// each calls see for every connection and returns their number.
func (w *connSet) each(see func(*conn)) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		see(c)
	}
	return len(w.conns)
}

// drainEvery is the interval of checks for connections to close during a shutdown.
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

// close aborts all connections and closes the set.
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
	// pollInterval is the interval of checks for disconnected clients: half of the time within
	// which the call of a disconnected client ends.
	pollInterval = 50 * time.Millisecond
	// maxIdlePolls is the number of checks without a waiting client after which watch pauses, so
	// that a gateway without traffic does not wake up.
	maxIdlePolls = 20
)

// watch ends the calls of disconnected clients. It checks all of them at intervals; a separate
// check for each request would cost more than reading the request.
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
		if poller.poll(w) > 0 && w.asleep.CompareAndSwap(true, false) { // a request arrived before it could see the flag
			continue
		}
		select {
		case <-w.wake:
		case <-w.ended:
			return
		}
	}
}

// wakeUp resumes watch, because a client waits.
func (w *connSet) wakeUp() {
	if w.asleep.Load() && w.asleep.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}
