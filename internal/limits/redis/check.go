package redis

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

// checkScript runs each command that the scripts need. It fails with the name of a command
// that is rejected by a replica, or for a user without the permission. What it writes expires
// after a second.
const checkScript = `
local key = KEYS[1]
for _, c in ipairs({
	{'DEL', key}, {'HSET', key, 'at', '1'}, {'HSETNX', key, 'at', '1'}, {'HINCRBY', key, 'at', '1'}, {'HGET', key, 'at'}, {'HMGET', key, 'at'},
	{'HGETALL', key}, {'HKEYS', key}, {'HDEL', key, 'none'}, {'EXISTS', key}, {'TIME'}, {'PEXPIREAT', key, '9999999999999'}, {'PEXPIRE', key, '1000'},
}) do
	local said = redis.pcall(unpack(c))
	if type(said) == 'table' and said.err then
		return redis.error_reply(said.err .. ' (' .. c[1] .. ')')
	end
end
return 1`

// Check verifies that a server responds and runs scripts that write. policy is its setting for
// full memory, "noeviction"; empty if it does not report it.
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
	settings, err := c.Do(ctx, c.B().ConfigGet().Parameter("maxmemory-policy").Build()).AsStrMap()
	if err != nil { // managed Redis services do not support CONFIG
		return "", nil //nolint:nilerr // it answers, and what it keeps secret is its business
	}
	return settings["maxmemory-policy"], nil
}
