package routing_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"sluice/internal/domain/routing"
)

// clock is a clock that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// draws returns the numbers one after the other, then zero.
func draws(numbers ...float64) func() float64 {
	return func() (r float64) {
		if len(numbers) > 0 {
			r, numbers = numbers[0], numbers[1:]
		}
		return r
	}
}

// request is what conditions see in the tests.
type request struct {
	metadata map[string]string
	params   map[string]any
	path     string
}

func (r request) Metadata(k string) (string, bool) { v, ok := r.metadata[k]; return v, ok }
func (r request) Param(k string) (any, bool)       { v, ok := r.params[k]; return v, ok }
func (r request) Path() string                     { return r.path }

// parse reads a config that must be good.
func parse(t testing.TB, doc string) *routing.Config {
	t.Helper()
	c, err := routing.Parse([]byte(doc), routing.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return c
}

// upstreams answers tries by the target's provider; who has no answer gives 200.
type upstreams map[string]routing.Outcome

// run walks once and returns the providers tried, in order.
func (u upstreams) run(t testing.TB, e *routing.Engine, c *routing.Config, f routing.Inputs) ([]string, routing.Outcome, error) {
	t.Helper()
	var tried []string
	out, err := e.Walk(context.Background(), c, "org/config", f, func(_ context.Context, target *routing.Target) routing.Outcome {
		tried = append(tried, target.Provider)
		if out, ok := u[target.Provider]; ok {
			return out
		}
		return routing.Outcome{Status: 200}
	})
	return tried, out, err
}
