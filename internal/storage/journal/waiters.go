package journal

import (
	"sync"
	"sync/atomic"
)

// waiters wakes the goroutines that wait for the next entry.
type waiters struct {
	waiting atomic.Bool // ch is not nil

	mu sync.Mutex // guards ch
	ch chan struct{}
}

// listen returns the channel that the next ring closes.
func (w *waiters) listen() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch == nil {
		w.ch = make(chan struct{})
	}
	w.waiting.Store(true)
	return w.ch
}

// ring wakes all waiters. It costs one load if there are none.
func (w *waiters) ring() {
	if !w.waiting.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting.Swap(false) {
		close(w.ch)
		w.ch = nil
	}
}
