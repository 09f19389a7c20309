package app

import (
	"context"
	"errors"

	"sluice/internal/cluster/redis"
	"sluice/internal/config"
	"sluice/internal/quota"
)

// errUnshared is that there are no nodes to speak of.
var errUnshared = errors.New("limits are not shared with other nodes: CACHE_STORE is not redis")

// Nodes lists the nodes that share their limits, as Redis knows them: the one that was
// heard of last is the first.
func Nodes(ctx context.Context, s config.Settings) ([]redis.Node, error) {
	if !s.Redis.Enabled() {
		return nil, errUnshared
	}
	return redis.ListNodes(ctx, redisServer(s.Redis))
}

// ForgetNode gives back to budgets what a node has of them that is gone for good, and tells
// what that is. It works while others serve; a node that was heard of within the last minute
// is an error.
func ForgetNode(ctx context.Context, s config.Settings, node string) ([]quota.NodeShare, error) {
	if !s.Redis.Enabled() {
		return nil, errUnshared
	}
	return redis.Forget(ctx, redisServer(s.Redis), node)
}
