-- States a piece of what the node has, in place of what was known of that. ARGV[7] is how
-- many parts there are, five for each: id, held, used, when its window is over in ms (of
-- budgets below 0: behind which reset some of it was used; 0 for none), early; then three
-- for each budget of which the node knows what the store says: id, used, last reset. The
-- latter come behind all parts.
local run = current()
if not run then return {'epoch'} end
redis.call('HSET', roll, 's:' .. node, text(now))
local at = 8
for _ = 1, tonumber(ARGV[7]) do
  local id, over = ARGV[at], tonumber(ARGV[at + 3])
  local key = prefix .. id
  local where = over > 0 and key or mine
  local counts = over > 0 or there(id)
  if over < 0 and counts and now >= -over - SLACK then begin(id, -over) end
  for k, field in ipairs({'h', 'u'}) do
    local own, value = over > 0 and field .. ':' .. life or field .. id, ARGV[at + k]
    local more = tonumber(value) - num(redis.call('HGET', where, own))
    if more ~= 0 and counts then redis.call('HINCRBY', key, field, text(more)) end
    if over > 0 or value ~= '0' then
      redis.call('HSET', where, own, value)
    else
      redis.call('HDEL', where, own)
    end
  end
  if over > 0 then
    redis.call('PEXPIREAT', key, over + SLACK)
  else
    local e, was = tonumber(ARGV[at + 4]), num(redis.call('HGET', mine, 'e' .. id))
    mark(mine, id, e)
    if counts then
      local c = redis.call('HMGET', key, 'w', 'a')
      if num(c[2]) ~= 0 then was = math.min(was, e) end -- what it stored meanwhile is waived there
      redis.call('HSET', key, 'w', text(math.max(num(c[1]) + e - was, 0))) -- more than there is until the store's part follows
    end
  end
  at = at + 5
end
for k = at, #ARGV, 3 do
  if there(ARGV[k]) then tell(ARGV[k], '0', ARGV[k + 1], ARGV[k + 2], 'F', '') end
end
for k = 8, at - 1, 5 do
  local w = tonumber(ARGV[k + 3]) <= 0 and there(ARGV[k]) and num(redis.call('HGET', prefix .. ARGV[k], 'w')) or 0
  if w > 0 then waive(ARGV[k], w) end
end
return {'stated', run, now}
