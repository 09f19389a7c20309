package secretref

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/credential"
	"sluice/internal/ident"
)

// How long a secret serves, and how many are kept.
// Source: contract/identity-and-governance.md section 12 for the five minutes; the
// rest is ours.
const (
	freshTime = 5 * time.Minute
	staleTime = time.Hour        // at most, while new ones cannot be had
	pauseTime = 15 * time.Second // after a failure, so that a manager in trouble is left in peace
	maxKept   = 1000
)

// cache keeps secrets by source. One source is fetched once at a time, whoever waits
// for it; nobody waits for another source.
type cache struct {
	clock ident.Clock
	log   *slog.Logger
	fetch func(ctx context.Context, s *credential.SecretSource) (*secret, error)

	busy sync.WaitGroup

	mu      sync.Mutex // guards what follows
	entries map[string]*entry
	running map[*entry]context.CancelFunc // ends a fetch; a caller that leaves does not
	closed  bool
}

// entry is one source.
type entry struct {
	revision int64
	value    *secret // nil until the first was fetched
	fetched  time.Time
	err      error // of the last fetch, nil when it went well
	failed   time.Time
	used     time.Time
	running  chan struct{} // closed when the fetch that runs is done; nil when none runs
}

func newCache(clock ident.Clock, log *slog.Logger, fetch func(context.Context, *credential.SecretSource) (*secret, error)) *cache {
	return &cache{clock: clock, log: log, fetch: fetch, entries: make(map[string]*entry), running: make(map[*entry]context.CancelFunc)}
}

func (c *cache) close() {
	c.mu.Lock()
	c.closed = true
	for _, stop := range c.running {
		stop()
	}
	c.mu.Unlock()
	c.busy.Wait()
}

// get returns the secret of a source: a kept one, or one that it waits for.
func (c *cache) get(ctx context.Context, s *credential.SecretSource) (*secret, error) {
	for {
		value, wait, err := c.look(s) //nolint:contextcheck // a caller that leaves does not end the fetch for the others
		if wait == nil {
			return value, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-wait:
		}
	}
}

// look returns what is kept, or what to wait for. It starts a fetch where one is due.
func (c *cache) look(s *credential.SecretSource) (value *secret, wait <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	e := c.entry(s, now)
	usable := e.value != nil && now.Sub(e.fetched) < staleTime
	paused := e.err != nil && now.Sub(e.failed) < pauseTime
	if due := e.value == nil || now.Sub(e.fetched) >= freshTime; due && !paused && e.running == nil {
		if c.closed {
			return nil, nil, errors.New("the gateway is stopping")
		}
		c.start(s, e)
	}
	switch {
	case usable:
		return e.value, nil, nil
	case e.running != nil:
		return nil, e.running, nil
	}
	return nil, nil, e.err
}

// entry finds or makes the entry of a source. Another revision begins anew: what was
// kept belongs to another sign-in or path.
func (c *cache) entry(s *credential.SecretSource, now time.Time) *entry {
	e := c.entries[s.RecordID]
	if e == nil || e.revision != s.Revision {
		if e == nil && len(c.entries) >= maxKept {
			c.drop()
		}
		e = &entry{revision: s.Revision}
		c.entries[s.RecordID] = e
	}
	e.used = now
	return e
}

// drop forgets the source that was not used for the longest time.
func (c *cache) drop() {
	var oldest string
	for id, e := range c.entries {
		if o := c.entries[oldest]; o == nil || e.used.Before(o.used) {
			oldest = id
		}
	}
	delete(c.entries, oldest)
}

// start fetches in the background; the mutex is held.
func (c *cache) start(s *credential.SecretSource, e *entry) {
	done := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	e.running, c.running[e] = done, stop
	c.busy.Add(1)
	go func() {
		defer c.busy.Done()
		defer stop()
		value, err := c.guarded(ctx, s)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, e)
		e.err, e.running = err, nil
		if now := c.clock.Now(); err == nil {
			e.value, e.fetched = value, now
		} else {
			e.failed = now
			c.log.Warn("a secret could not be read", "secret_reference", s.RecordID, "manager", string(s.Manager), "kept", e.value != nil, "error", err.Error())
		}
		close(done)
	}()
}

// guarded fetches, and makes an error of what goes wrong beyond errors.
func (c *cache) guarded(ctx context.Context, s *credential.SecretSource) (value *secret, err error) {
	defer func() {
		if recover() != nil { // its text might hold the secret
			value, err = nil, errors.New("reading the secret panicked")
		}
	}()
	return c.fetch(ctx, s)
}
