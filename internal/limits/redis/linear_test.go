package redis_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"sluice/internal/limits/quota/quotatest"
	"sluice/internal/limits/redis"
	"sluice/internal/limits/redistest"
)

// TestLinearisable: what calls at once are answered, by one node and by three, is what
// some order of them one behind another would have been answered.
func TestLinearisable(t *testing.T) {
	t.Parallel()
	one := redistest.Start(t)
	for name, server := range map[string]func(testing.TB) redis.Server{
		"one server": func(testing.TB) redis.Server { return redisServer(one.Address) },
		"cluster":    func(t testing.TB) redis.Server { return redisServer(redistest.StartCluster(t).Addresses()...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			linearisable(t, server(t))
		})
	}
}

func linearisable(t *testing.T, server redis.Server) {
	b := new(books)
	var banks []quotatest.Limiter
	still := &clock{now: time.Now()} // histories do not know of windows
	for i := range 3 {
		o := options(fmt.Sprint("n", i), server, b)
		o.Clock = still
		banks = append(banks, start(t, o))
	}
	for nodes := 1; nodes <= 3; nodes += 2 {
		for seed := range uint64(20) {
			quotatest.Check(t, quotatest.History{
				Seed: seed, Org: fmt.Sprintf("o%d-%d", nodes, seed), Limiters: banks[:nodes], Callers: 6, AwaitSync: known,
			})
		}
	}
}

// known waits until Redis knows all that a node has.
func known(b quotatest.Limiter) {
	n, ok := b.(*node)
	for ok && !n.IsPublished() {
		runtime.Gosched()
	}
}
