-- Makes budgets that are not there, from what the store says and what all nodes have besides;
-- four for each from ARGV[7] on: id, used and last reset as the store has them, and v as it was
-- before the store was asked. One of which something was told since is not made.
local run = current()
if not run then return {'epoch'} end
for k = 7, #ARGV, 4 do
  local id, reset = ARGV[k], ARGV[k + 2]
  local key = prefix .. id
  if not find(id) and (redis.call('HGET', key, 'v') or '0') == ARGV[k + 3] then
    redis.call('HSET', key, 'g', lost, 'b', ARGV[k + 1], 'r', reset, 'a', '0')
    gather(id, tonumber(reset))
    redis.call('PEXPIRE', key, KEEP)
  end
end
return {'created', run, now}
