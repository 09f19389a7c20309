package dataplane

import "strings"

// passedURLs is the maximum number of cached URLs that passed the check. The guard limits the
// length of each.
const passedURLs = 1024

// checkURL is the guard's CheckURL with a cache. A URL that passed is not parsed again, because
// its result never changes. The addresses of its host are checked again for every connection.
func (g *Gateway) checkURL(url string) error {
	if _, passed := g.urls.get(url); passed {
		return nil
	}
	if err := g.Guard.CheckURL(url); err != nil {
		return err
	}
	g.urls.put(strings.Clone(url), struct{}{})
	return nil
}
