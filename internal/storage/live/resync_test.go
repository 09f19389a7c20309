package live_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/storage/live"
	"sluice/internal/storage/sqlstore"
)

// turned is a store in whose place another one comes, which was away before.
type turned struct {
	*sqlstore.Store
	mu   sync.Mutex
	gone bool
	next *sqlstore.Store
}

func (s *turned) now() (*sqlstore.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, errors.New("the database is away")
	}
	if s.next != nil {
		return s.next, nil
	}
	return s.Store, nil
}

func (s *turned) turn(gone bool, next *sqlstore.Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone, s.next = gone, next
}

func (s *turned) List(ctx context.Context, q resource.Query) ([]resource.Record, error) {
	current, err := s.now()
	if err != nil {
		return nil, err
	}
	return current.List(ctx, q)
}

func (s *turned) Each(ctx context.Context, q resource.Query, f func(resource.Record)) error {
	current, err := s.now()
	if err != nil {
		return err
	}
	return current.Each(ctx, q, f)
}

func (s *turned) Changes(ctx context.Context, after int64, limit int) ([]resource.Change, error) {
	current, err := s.now()
	if err != nil {
		return nil, err
	}
	return current.Changes(ctx, after, limit)
}

func (s *turned) LastChange(ctx context.Context) (int64, error) {
	current, err := s.now()
	if err != nil {
		return 0, err
	}
	return current.LastChange(ctx)
}

// logSignal is a log of which somebody waits for the first line.
type logSignal chan struct{}

// Write takes a line.
func (l logSignal) Write(b []byte) (int, error) {
	select {
	case l <- struct{}{}:
	default:
	}
	return len(b), nil
}

// A database that comes back without its last changes, as a replica that took over does,
// gives their numbers to others: these are in force all the same, and what is not there any
// more is not.
func TestStoreThatForgot(t *testing.T) {
	t.Parallel()
	before, after := newPlane(t), newPlane(t)
	src, logged := &turned{Store: before.store}, make(logSignal, 1)
	dir := live.New(src, before.box, routing.DefaultLimits(), slog.New(slog.NewTextHandler(logged, nil)))
	before.put(tenant.WorkspaceKind, "first", tenant.Workspace{Name: "first"})
	if err := dir.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	missing := before.put(tenant.WorkspaceKind, "lost", tenant.Workspace{Name: "lost"})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- dir.Run(ctx) }()
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("not within a minute: " + what)
			}
		}
	}
	known := func(id string) bool { return dir.Current().FindWorkspace(id) != nil }
	eventually("what is lost later is known", func() bool { return known(missing) })
	src.turn(true, nil)
	<-logged
	after.put(tenant.WorkspaceKind, "first", tenant.Workspace{Name: "first"})
	made := after.put(tenant.WorkspaceKind, "made", tenant.Workspace{Name: "made"})
	src.turn(false, after.store)
	eventually("what took the number of what was lost is in force", func() bool { return known(made) && !known(missing) })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
