package requestlog

import (
	"context"
	"fmt"
	"sync"

	"sluice/internal/kernel/ident"
)

// ingestWaiters are the marks that callers wait for.
type ingestWaiters struct {
	mu      sync.Mutex // guards waiting
	waiting map[string]chan struct{}
}

// await returns the channel that reach closes.
func (m *ingestWaiters) await(id string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = make(map[string]chan struct{})
	}
	m.waiting[id] = make(chan struct{})
	return m.waiting[id]
}

// reach notifies the waiters of marks that everything before those marks is stored.
func (m *ingestWaiters) reach(ids []string) {
	for _, id := range ids {
		m.mu.Lock()
		if ch := m.waiting[id]; ch != nil {
			close(ch)
			delete(m.waiting, id)
		}
		m.mu.Unlock()
	}
}

func (m *ingestWaiters) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.waiting, id)
}

// WaitIngested returns when everything that was in the journal at the call is in the rows:
// attempts and corrections, including those of earlier processes. It needs Run. It returns the
// error of ctx if that ends first, and an error if the journal cannot accept a mark.
func (s *Store) WaitIngested(ctx context.Context) error {
	id := ident.NewID()
	reached := s.marks.await(id)
	defer s.marks.forget(id)
	if err := s.journal.Mark(id); err != nil {
		return fmt.Errorf("wait for the log: %w", err)
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for the log: %w", ctx.Err())
	case <-reached:
		return nil
	}
}
