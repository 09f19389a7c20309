package redis

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

// Check asks a server whether it answers and runs scripts. policy is what it does when its
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
	clock := rueidis.NewLuaScript("return redis.call('TIME')")
	if err := clock.Exec(ctx, c, []string{"sluice:check"}, nil).Error(); err != nil {
		return "", fmt.Errorf("run a script: %w", err)
	}
	told, err := c.Do(ctx, c.B().ConfigGet().Parameter("maxmemory-policy").Build()).AsStrMap()
	if err != nil { // a managed Redis has no CONFIG
		return "", nil //nolint:nilerr // it answers, and what it keeps secret is its business
	}
	return told["maxmemory-policy"], nil
}
