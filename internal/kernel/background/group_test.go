package background_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/background"
)

// The parts are stopped one after the other, the last started first.
func TestGroupStopsInReverse(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var stopped []string
	g := background.Group{Deadline: time.Second}
	for _, name := range []string{"store", "journal", "listener"} {
		g.Add(name, func(ctx context.Context) error {
			<-ctx.Done()
			mu.Lock()
			defer mu.Unlock()
			stopped = append(stopped, name)
			return nil
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := g.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(stopped, []string{"listener", "journal", "store"}) {
		t.Errorf("stopped in the order %v", stopped)
	}
}

// A part that ends by itself stops the rest, and the group says which it was.
func TestGroupEndsWithItsFirst(t *testing.T) {
	t.Parallel()
	g := background.Group{Deadline: time.Second}
	g.Add("store", func(ctx context.Context) error { <-ctx.Done(); return nil })
	g.Add("listener", func(context.Context) error { return errors.New("the port is taken") })
	if err := g.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "listener ended: the port is taken") {
		t.Errorf("%v", err)
	}
	g = background.Group{Deadline: 10 * time.Millisecond}
	stuck := make(chan struct{})
	defer close(stuck)
	g.Add("worker", func(context.Context) error { <-stuck; return nil })
	g.Add("listener", func(context.Context) error { return nil })
	if err := g.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "worker did not stop") || !strings.Contains(err.Error(), "stopped unexpectedly") {
		t.Errorf("%v", err)
	}
}
