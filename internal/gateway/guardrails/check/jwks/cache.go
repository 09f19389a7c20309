package jwks

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"sluice/internal/kernel/boundedcache"
)

const (
	maxSources = 1024             // URLs that a cache holds
	minRefetch = 10 * time.Second // between fetches of one URL because of unknown keys
)

// Source is a published key set.
type Source struct {
	URL    string
	MaxAge time.Duration // how long a fetched set is used
	Now    func() time.Time
	Fetch  func(ctx context.Context) ([]byte, error)
}

// Cache holds fetched key sets by URL. Concurrent callers share one fetch. It is safe for concurrent
// use. Create one with NewCache.
type Cache struct {
	sets    *boundedcache.Cache[string, fetched]
	flights singleflight.Group
}

type fetched struct {
	set Set
	at  time.Time
}

// NewCache returns an empty cache of at most 1024 sources.
func NewCache() *Cache {
	return &Cache{sets: boundedcache.New[string, fetched](maxSources)}
}

// Keys returns the keys of a source, at most s.MaxAge old. The error is that of s.Fetch, of Parse or
// of ctx.
func (c *Cache) Keys(ctx context.Context, s *Source) (Set, error) { return c.keys(ctx, s, s.MaxAge) }

// Refresh is Keys for a caller who did not find a key: the issuer may have published it since. It
// fetches a source at most every 10 seconds.
func (c *Cache) Refresh(ctx context.Context, s *Source) (Set, error) {
	return c.keys(ctx, s, min(s.MaxAge, minRefetch))
}

func (c *Cache) keys(ctx context.Context, s *Source, maxAge time.Duration) (Set, error) {
	if f, ok := c.sets.Get(s.URL); ok && s.Now().Sub(f.at) < maxAge {
		return f.set, nil
	}
	// One caller's end must not end the fetch of the others. Fetch has a time limit of its own.
	shared := context.WithoutCancel(ctx)
	flight := c.flights.DoChan(s.URL, func() (any, error) {
		at := s.Now()
		raw, err := s.Fetch(shared)
		if err != nil {
			return nil, err
		}
		set, err := Parse(raw)
		if err != nil {
			return nil, err
		}
		c.sets.Put(s.URL, fetched{set, at})
		return set, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case done := <-flight:
		set, _ := done.Val.(Set)
		return set, done.Err
	}
}
