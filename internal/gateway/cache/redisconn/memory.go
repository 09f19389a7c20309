package redisconn

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/kernel/ident"
)

// memoryGuard stops writes before the memory of a server is full. The counters of limits may be in
// the same server, and it refuses their writes when it is full and may not evict keys. It is safe
// for concurrent use.
type memoryGuard struct {
	max   int64 // 0: from the settings of the server
	clock ident.Clock

	mu      sync.Mutex // guards the rest; not held across I/O
	checked time.Time
	full    bool
}

const checkInterval = 5 * time.Second

// isFull reports whether writes must stop. It queries the servers every five seconds.
func (g *memoryGuard) isFull(ctx context.Context, c rueidis.Client) (bool, error) {
	now := g.clock.Now()
	g.mu.Lock()
	due, full := now.Sub(g.checked) >= checkInterval, g.full
	if due {
		g.checked = now
	}
	g.mu.Unlock()
	if !due {
		return full, nil
	}
	full = false
	for _, node := range c.Nodes() {
		info, err := node.Do(ctx, node.B().Info().Section("memory").Build()).ToString()
		if err != nil {
			return false, err
		}
		full = full || g.exceeds(info)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.full = full
	return full, nil
}

// exceeds reports whether a server uses more memory than permitted.
func (g *memoryGuard) exceeds(info string) bool {
	used, _ := strconv.ParseInt(infoField(info, "used_memory"), 10, 64)
	if g.max > 0 {
		return used > g.max
	}
	limit, _ := strconv.ParseInt(infoField(info, "maxmemory"), 10, 64)
	evicts := strings.HasPrefix(infoField(info, "maxmemory_policy"), "allkeys-")
	return limit > 0 && !evicts && used > limit/100*80
}

// infoField returns a field of the response to INFO: "used_memory:1024".
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
