package dataplane

import (
	"strings"
	"sync"

	"sluice/internal/provider/netguard"
)

// judged keeps the URLs that the guard has let pass: callers name the same few with
// every request, and the guard, which never changes, would take each apart again.
// The addresses behind them are judged anew for every connection.
type judged struct {
	guard *netguard.Guard

	mu   sync.RWMutex // guards good
	good map[string]struct{}
}

// judgedMax is how many URLs are kept; the guard bounds the length of each.
const judgedMax = 1024

func newJudged(g *netguard.Guard) *judged {
	return &judged{guard: g, good: make(map[string]struct{})}
}

// check is the guard's CheckURL.
func (j *judged) check(url string) error {
	j.mu.RLock()
	_, known := j.good[url]
	j.mu.RUnlock()
	if known {
		return nil
	}
	if err := j.guard.CheckURL(url); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.good) >= judgedMax {
		clear(j.good) // rare, and cheaper than keeping an order for it
	}
	j.good[strings.Clone(url)] = struct{}{}
	return nil
}
