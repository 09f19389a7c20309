package netguard

import (
	"strings"

	"sluice/internal/kernel/boundedcache"
)

// maxPassedURLs is the maximum number of cached URLs that passed the check. The guard limits the
// length of each.
const maxPassedURLs = 1024

// URLChecker is Guard.CheckURL with a cache. A URL that passed is not parsed again, because its
// result never changes. The addresses of its host are checked again for every connection. It is
// safe for concurrent use.
type URLChecker struct {
	guard  *Guard
	passed *boundedcache.Cache[string, struct{}]
}

// NewURLChecker returns a URLChecker with an empty cache.
func NewURLChecker(g *Guard) *URLChecker {
	return &URLChecker{guard: g, passed: boundedcache.New[string, struct{}](maxPassedURLs)}
}

// CheckURL returns the error of Guard.CheckURL for a URL. It does not retain the URL.
func (c *URLChecker) CheckURL(url string) error {
	if _, passed := c.passed.Get(url); passed {
		return nil
	}
	if err := c.guard.CheckURL(url); err != nil {
		return err
	}
	c.passed.Put(strings.Clone(url), struct{}{})
	return nil
}
