package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"sluice/internal/cluster/redis"
	"sluice/internal/config"
)

// redisFaults are those of Redis. The first one that fits counts.
// Source: https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors, and
// what Redis 7.0 answers.
var redisFaults = []knownDBError{
	{[]string{"NOAUTH", "WRONGPASS", "invalid password"}, "check REDIS_USERNAME and REDIS_PASSWORD"},
	{[]string{"NOPERM", "can't run this command"}, "let the user of REDIS_USERNAME run scripts, and write hashes and keys that begin with sluice: (+@scripting, +@hash, +@keyspace, +time, ~sluice:*)"},
	{[]string{"READONLY"}, "this is a replica: name the server that takes writes (REDIS_URL, REDIS_HOST)"},
	{[]string{"MOVED", "CROSSSLOT"}, "set REDIS_MODE=cluster: this is a node of a Redis Cluster"},
	{[]string{"MISCONF", "OOM "}, "see what Redis says in its own log: it takes no writes"},
	{[]string{"no such host", "server misbehaving"}, "check REDIS_HOST, and the name server of this machine"},
	{[]string{"connection refused"}, "see that Redis runs, and listens where REDIS_URL says, or REDIS_HOST and REDIS_PORT"},
	{[]string{"x509:", "certificate"}, "set REDIS_TLS_CA to the authority of the server's certificate, and REDIS_HOST to a name in it"},
	{[]string{"unknown message type"}, "what answers at REDIS_HOST and REDIS_PORT is no Redis: check these"},
	{[]string{"deadline exceeded", "i/o timeout", "EOF", "first record does not look like a TLS handshake", "connection reset"}, "check REDIS_HOST, REDIS_PORT, whether that port speaks TLS (REDIS_TLS_ENABLED), and the firewall"},
}

// anyRedisFault is the cure of all others.
const anyRedisFault = "check REDIS_URL or REDIS_HOST, REDIS_PORT, REDIS_MODE, REDIS_TLS_ENABLED, REDIS_USERNAME and REDIS_PASSWORD"

// checkRedis asks Redis whether it can keep the limits of many nodes.
func checkRedis(ctx context.Context, s config.Settings, _ *slog.Logger) Finding {
	f := Finding{Subject: "redis"}
	if !s.Redis.Enabled() {
		f.Detail = "not used: limits are counted by each node alone (CACHE_STORE)"
		return f
	}
	policy, err := redis.Check(ctx, redisServer(s.Redis))
	switch {
	case err != nil:
		f.Err, f.Hint = err, findHint(redisFaults, err.Error(), anyRedisFault)
	case policy != "" && policy != "noeviction":
		f.Err = fmt.Errorf("it forgets counters when its memory is full (maxmemory-policy %s)", policy)
		f.Hint = "set maxmemory-policy noeviction in Redis: a counter that is forgotten lets more through than its limit"
	}
	f.Detail = strings.Join(s.Redis.Addresses(), ", ") + " answers and runs scripts"
	return f
}
