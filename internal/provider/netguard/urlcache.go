package netguard

import (
	"strings"

	"sluice/internal/kernel/boundedcache"
)

// maxCachedURLs is the maximum number of cached URLs that passed the check. CheckURL limits the
// length of each.
const maxCachedURLs = 1024

// URLCache is CheckURL with a cache. A URL that passed is not parsed again, because its result
// never changes. The addresses of its host are checked again for every connection. Safe for
// concurrent use.
type URLCache struct {
	guard  *Guard
	passed *boundedcache.Cache[string, struct{}]
}

// NewURLCache creates an empty cache of the URLs that pass g.
func NewURLCache(g *Guard) *URLCache {
	return &URLCache{guard: g, passed: boundedcache.New[string, struct{}](maxCachedURLs)}
}

// CheckURL is Guard.CheckURL.
func (c *URLCache) CheckURL(url string) error {
	if _, passed := c.passed.Get(url); passed {
		return nil
	}
	if err := c.guard.CheckURL(url); err != nil {
		return err
	}
	c.passed.Put(strings.Clone(url), struct{}{})
	return nil
}
