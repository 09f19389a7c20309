-- States a piece of what the node has, in place of what was known of that. ARGV[7] is how
-- many budgets there are of which the node knows what the store says, three for each: id,
-- used, last reset. Then six for each part: id, held, used, when its window is over in ms (of
-- budgets below 0: the last reset that the node knows; 0 for none), and of budgets when the
-- last of it was used in ms, and how much of it lies before that reset.
local run = current()
if not run then return {'epoch'} end
redis.call('HSET', roll, 's:' .. node, text(now))
local at = 8
for _ = 1, tonumber(ARGV[7]) do
  tell(ARGV[at], '0', ARGV[at + 1], ARGV[at + 2], 'F')
  at = at + 3
end

-- replace notes a part of one kind, and has all know of the difference.
local function replace(key, where, field, own, value, counts)
  local more = tonumber(value) - num(redis.call('HGET', where, own))
  if more ~= 0 and counts then redis.call('HINCRBY', key, field, text(more)) end
  if where == mine and value == '0' then
    redis.call('HDEL', where, own)
  else
    redis.call('HSET', where, own, value)
  end
end

for k = at, #ARGV, 6 do
  local id, held, used, over = ARGV[k], ARGV[k + 1], ARGV[k + 2], tonumber(ARGV[k + 3])
  local key = prefix .. id
  if over > 0 then
    replace(key, key, 'h', 'h:' .. life, held, true)
    replace(key, key, 'u', 'u:' .. life, used, true)
    redis.call('PEXPIREAT', key, over + SLACK)
  else
    local c = find(id)
    replace(key, mine, 'h', 'h' .. id, held, c)
    local x = has(mine, id)
    x.used, x.latest, x.behind, x.early = tonumber(used), tonumber(ARGV[k + 4]), math.abs(over), tonumber(ARGV[k + 5])
    if x.used > x.early then x.latest = math.max(x.latest, x.behind) end
    put(id, c, x)
  end
end
return {'stated', run, now}
