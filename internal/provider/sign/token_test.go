package sign

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// turned is a clock that a test turns between calls.
type turned struct{ now atomic.Int64 }

func (c *turned) Now() time.Time      { return time.Unix(0, c.now.Load()) }
func (c *turned) add(d time.Duration) { c.now.Add(int64(d)) }

// service is a token service: what it answers is set between fetches.
type service struct {
	calls atomic.Int64
	text  string
	err   error
	hold  chan struct{} // when set, answers wait for it
	wrong bool          // it panics
}

func (s *service) fetch(ctx context.Context) (token, error) {
	s.calls.Add(1)
	if s.hold != nil {
		<-s.hold
	}
	if _, limited := ctx.Deadline(); !limited || ctx.Err() != nil {
		return token{}, errors.New("the fetch has no time of its own")
	}
	if s.wrong {
		panic("hidden")
	}
	if s.err != nil {
		return token{}, s.err
	}
	return token{s.text, time.Hour}, nil
}

// gone is the context of a caller who waits for nothing: what it gets was kept.
func gone(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Ahead of its end a token serves while one fetch renews it, for which nobody waits and
// which no caller ends.
func TestTokenServesWhileItIsRenewed(t *testing.T) {
	t.Parallel()
	clock, from := &turned{}, &service{text: "one"}
	s := &tokenSource{clock: clock, fetch: from.fetch}
	if got, err := s.get(t.Context()); got != "one" || err != nil {
		t.Fatalf("the first: %q %v", got, err)
	}
	from.text, from.hold = "two", make(chan struct{})
	clock.add(51 * time.Minute)
	for range 3 {
		if got, err := s.get(gone(t)); got != "one" || err != nil {
			t.Errorf("while it is renewed: %q %v", got, err)
		}
	}
	close(from.hold)
	s.wait()
	if got, err := s.get(gone(t)); got != "two" || err != nil || from.calls.Load() != 2 {
		t.Errorf("renewed: %q %v after %d fetches", got, err, from.calls.Load())
	}
}

// A token that cannot be renewed serves to its end, and the service is asked four times
// a minute; then every call asks, and is told.
func TestTokenOutlivesFailures(t *testing.T) {
	t.Parallel()
	clock, from := &turned{}, &service{text: "one"}
	s := &tokenSource{clock: clock, fetch: from.fetch}
	if _, err := s.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	from.err = errors.New("no tokens today")
	for _, c := range []struct {
		pass  time.Duration
		calls int64
	}{{50 * time.Minute, 2}, {0, 2}, {tokenPause - 1, 2}, {1, 3}, {9 * time.Minute, 4}} {
		clock.add(c.pass)
		if got, err := s.get(gone(t)); got != "one" || err != nil {
			t.Errorf("%v later: %q %v", c.pass, got, err)
		}
		s.wait()
		if n := from.calls.Load(); n != c.calls {
			t.Errorf("%v later: %d fetches, want %d", c.pass, n, c.calls)
		}
	}
	clock.add(15 * time.Second) // half a minute before its end
	for i := range int64(2) {
		if got, err := s.get(t.Context()); got != "" || !errors.Is(err, from.err) || from.calls.Load() != 5+i {
			t.Errorf("at its end: %q %v after %d fetches", got, err, from.calls.Load())
		}
	}
	from.err, from.text = nil, "two"
	if got, err := s.get(t.Context()); got != "two" || err != nil {
		t.Errorf("and again: %q %v", got, err)
	}
}

// A fetch that panics is a fetch that failed.
func TestTokenFetchPanics(t *testing.T) {
	t.Parallel()
	from := &service{text: "one", wrong: true}
	s := &tokenSource{clock: &turned{}, fetch: from.fetch}
	if got, err := s.get(t.Context()); got != "" || err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%q %v", got, err)
	}
	from.wrong = false
	if got, err := s.get(t.Context()); got != "one" || err != nil {
		t.Errorf("the next: %q %v", got, err)
	}
}
