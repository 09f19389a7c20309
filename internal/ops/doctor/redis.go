package doctor

import (
	"context"
	"fmt"
	"strings"

	"sluice/internal/limits/redis"
	"sluice/internal/ops/hint"
)

// Redis checks that Redis can store limits that nodes share.
type Redis struct {
	Enabled bool         // CACHE_STORE is redis
	Server  redis.Server // REDIS_*
}

// Run implements Check.
func (c Redis) Run(ctx context.Context) []Finding { return []Finding{c.check(ctx)} }

func (c Redis) check(ctx context.Context) Finding {
	f := Finding{Subject: "redis"}
	if !c.Enabled {
		f.Detail = "not used; each node counts limits separately (CACHE_STORE)"
		return f
	}
	policy, err := redis.Check(ctx, c.Server)
	switch {
	case err != nil:
		f.Err, f.Hint = err, hint.Redis(err)
	case policy != "" && policy != "noeviction":
		f.Err = fmt.Errorf("Redis evicts counters when its memory is full (maxmemory-policy %s)", policy)
		f.Hint = "set maxmemory-policy noeviction in Redis; an evicted counter allows more than its limit"
	}
	f.Detail = strings.Join(c.Server.Addresses, ", ") + " responds and runs scripts"
	return f
}
