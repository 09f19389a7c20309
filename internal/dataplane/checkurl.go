package dataplane

import "strings"

// passedURLs is how many URLs are kept that the guard has let pass; it bounds the length of
// each.
const passedURLs = 1024

// checkURL is the guard's CheckURL. What it has let pass it need not take apart again,
// because it never changes. The addresses behind a URL are judged anew for every connection.
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
