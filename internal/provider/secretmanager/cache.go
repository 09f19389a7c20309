package secretmanager

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/ident"
)

// How long a secret serves, and how many are kept.
// Source: contract/identity-and-governance.md section 12 for the five minutes; the
// rest is ours.
const (
	freshTime        = 5 * time.Minute
	graceTime        = time.Minute      // more, while a new one is fetched in the background
	staleTime        = time.Hour        // at most, while the manager cannot be reached
	pauseTime        = 15 * time.Second // after a failure, so that a manager in trouble is left in peace; below graceTime
	maxCachedSecrets = 1000
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
	value    *secret // nil until the first was fetched, and after a refusal
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
		value, wait, err := c.load(s) //nolint:contextcheck // a caller that leaves does not end the fetch for the others
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

// load returns what is kept, or what to wait for. It starts a fetch where one is due.
func (c *cache) load(s *credential.SecretSource) (value *secret, wait <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	e := c.entry(s, now)
	paused := e.err != nil && now.Sub(e.failed) < pauseTime
	if due := e.value == nil || now.Sub(e.fetched) >= freshTime; due && !paused && e.running == nil {
		if c.closed {
			return nil, nil, errors.New("the gateway is shutting down")
		}
		c.start(s, e)
	}
	switch {
	case e.canServeStale(now):
		return e.value, nil, nil
	case e.running != nil:
		return nil, e.running, nil
	}
	return nil, nil, e.err
}

// canServeStale reports whether the stored secret may be used although a newer one is due or on its
// way: for the time of grace, and for as long after the manager could not be reached, so
// that an outage keeps no call waiting. After that nothing is known of the manager, and
// the call waits for its answer.
func (e *entry) canServeStale(now time.Time) bool {
	if e.value == nil {
		return false
	}
	age := now.Sub(e.fetched)
	outage := e.err != nil && now.Sub(e.failed) < graceTime
	return age < freshTime+graceTime || outage && age < staleTime
}

// entry finds or makes the entry of a source. Another revision begins anew: what was
// kept belongs to another sign-in or path.
func (c *cache) entry(s *credential.SecretSource, now time.Time) *entry {
	e := c.entries[s.RecordID]
	if e == nil || e.revision != s.Revision {
		if e == nil && len(c.entries) >= maxCachedSecrets {
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
		value, err := c.fetchRecovered(ctx, s)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, e)
		e.running = nil
		e.note(value, err, c.clock.Now())
		if err != nil {
			c.log.Warn("cannot read secret", "secret_reference", s.RecordID, "manager", string(s.Manager), "kept", e.value != nil, "error", err.Error())
		}
		close(done)
	}()
}

// note keeps what a fetch brought. To refuse a secret is how an operator takes it back,
// so that the kept one is dropped; it outlives a manager that cannot be reached.
func (e *entry) note(value *secret, err error, now time.Time) {
	e.err = err
	if err == nil {
		e.value, e.fetched = value, now
		return
	}
	e.failed = now
	if !unreachable(err) {
		e.value = nil
	}
}

// fetchRecovered fetches, and makes an error of what goes wrong beyond errors.
func (c *cache) fetchRecovered(ctx context.Context, s *credential.SecretSource) (value *secret, err error) {
	defer func() {
		if recover() != nil { // its text might hold the secret
			value, err = nil, errors.New("panic while reading secret")
		}
	}()
	return c.fetch(ctx, s)
}
