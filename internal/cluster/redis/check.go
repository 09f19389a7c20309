package redis

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"
)

// checkScript runs each command that a script needs, and names the one that a replica, or a
// user who may not, is refused. What it writes is gone in a second.
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
	settings, err := c.Do(ctx, c.B().ConfigGet().Parameter("maxmemory-policy").Build()).AsStrMap()
	if err != nil { // a managed Redis has no CONFIG
		return "", nil //nolint:nilerr // it answers, and what it keeps secret is its business
	}
	return settings["maxmemory-policy"], nil
}
