-- States a piece of what the node has, in place of what was known of that. ARGV[7] is how
-- many parts there are, four for each: id, held, used, when its window is over in ms (of
-- budgets below 0: behind which reset some of it was used; 0 for none); then three for each
-- budget of which the node knows what the store says: id, used, last reset. The latter come
-- behind all parts.
local run = current()
if not run then return {'epoch'} end
redis.call('HSET', roll, 's:' .. node, text(now))
local at = 8
for _ = 1, tonumber(ARGV[7]) do
  local id, over = ARGV[at], tonumber(ARGV[at + 3])
  local key = prefix .. id
  local where = over > 0 and key or mine
  if over < 0 and now >= -over - SLACK and there(id) then begin(id, -over) end
  for k, field in ipairs({'h', 'u'}) do
    local own, value = over > 0 and field .. ':' .. life or field .. id, ARGV[at + k]
    local more = tonumber(value) - num(redis.call('HGET', where, own))
    if more ~= 0 and (over > 0 or there(id)) then redis.call('HINCRBY', key, field, text(more)) end
    if over > 0 or value ~= '0' then
      redis.call('HSET', where, own, value)
    else
      redis.call('HDEL', where, own)
    end
  end
  if over > 0 then redis.call('PEXPIREAT', key, over + SLACK) end
  at = at + 4
end
for k = at, #ARGV, 3 do
  if there(ARGV[k]) then tell(ARGV[k], '0', ARGV[k + 1], ARGV[k + 2], 'F') end
end
return {'stated', run, now}
