package app

import (
	"context"
	"errors"

	"sluice/internal/app/options"
	"sluice/internal/cluster/redis"
	"sluice/internal/config"
	"sluice/internal/quota"
)

// errUnshared reports that the deployment shares no limits between nodes.
var errUnshared = errors.New("limits are not shared with other nodes: CACHE_STORE is not redis")

// Nodes lists the nodes that share their limits, from Redis. The node with the most recent report
// is the first.
func Nodes(ctx context.Context, s config.Settings) ([]redis.Node, error) {
	if !s.Redis.Enabled() {
		return nil, errUnshared
	}
	return redis.ListNodes(ctx, options.Redis(s.Redis))
}

// ForgetNode returns to budgets the shares of a node that is gone for good, and returns those
// shares. It works while other nodes serve. A node that reported within the last minute is an
// error.
func ForgetNode(ctx context.Context, s config.Settings, node string) ([]quota.NodeShare, error) {
	if !s.Redis.Enabled() {
		return nil, errUnshared
	}
	return redis.Forget(ctx, options.Redis(s.Redis), node)
}
