package redis

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

// checkScript writes, as every script does that counts: a replica, and a user who may not,
// refuse that. What it writes is gone in a second.
const checkScript = "redis.call('HSET', KEYS[1], 'at', redis.call('TIME')[1]) return redis.call('PEXPIRE', KEYS[1], 1000)"

// Check asks a server whether it answers and runs scripts that write. policy is what it does when its
// memory is full, "noeviction"; empty where it does not say.
func Check(ctx context.Context, s Server) (policy string, err error) {
	o := Options{Server: s}.withDefaults()
	c, err := o.Server.client()
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(ctx, 2*o.Server.Timeout)
	defer stop()
	if err := rueidis.NewLuaScript(checkScript).Exec(ctx, c, []string{"sluice:check"}, nil).Error(); err != nil {
		return "", fmt.Errorf("run a script: %w", err)
	}
	told, err := c.Do(ctx, c.B().ConfigGet().Parameter("maxmemory-policy").Build()).AsStrMap()
	if err != nil { // a managed Redis has no CONFIG
		return "", nil //nolint:nilerr // it answers, and what it keeps secret is its business
	}
	return told["maxmemory-policy"], nil
}
