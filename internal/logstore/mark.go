package logstore

import (
	"context"
	"fmt"
	"sync"

	"sluice/internal/ident"
)

// ingestWaiters are those that somebody waits for.
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

// reach tells those who wait for marks that what stood before them is stored.
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

// WaitIngested returns when everything is in the rows that was in the journal when it was
// called: attempts, and corrections of any process before this one too. It needs Run, and
// fails with the error of ctx when that ends first, or when the journal takes no mark.
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
