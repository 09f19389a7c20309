-- Puts the node on the roll under a new epoch, with all that it has; what it had stated
-- before is void. ARGV[3] is the epoch that it was found under, empty for none, ARGV[7]
-- the new one, ARGV[8] how many parts follow, four for each: id, held, used, when its
-- window is over in ms (0 for budgets); then three for each budget of which the node
-- knows what the store says: id, used, last reset.
if (redis.call('HGET', roll, 'e:' .. node) or '') ~= epoch then return {'epoch'} end
if num(redis.call('HGET', roll, 'o:' .. node)) < done then
  -- A run of this node is missing: with it may be what others said. All state their parts
  -- again, as each finds out, and what was stored is read again.
  lost = text(redis.call('HINCRBY', roll, 'g', 1))
  redis.call('HSET', roll, 'born', text(now), 'o:' .. node, text(done))
end
redis.call('HSETNX', roll, 'born', text(now))

local old = redis.call('HGETALL', mine)
for i = 1, #old, 2 do
  local field, id = old[i]:sub(1, 1), old[i]:sub(2)
  if there(id) then redis.call('HINCRBY', prefix .. id, field, minus(old[i + 1])) end
end
redis.call('DEL', mine)

local at = 9
for _ = 1, tonumber(ARGV[8]) do
  local id, over = ARGV[at], tonumber(ARGV[at + 3])
  local key = prefix .. id
  for k, field in ipairs({'h', 'u'}) do
    local value = ARGV[at + k]
    if over > 0 then
      local had = num(redis.call('HGET', key, field .. ':' .. life))
      redis.call('HINCRBY', key, field, text(tonumber(value) - had))
      redis.call('HSET', key, field .. ':' .. life, value)
    elseif value ~= '0' then
      redis.call('HSET', mine, field .. id, value)
      if there(id) then redis.call('HINCRBY', key, field, value) end
    end
  end
  if over > 0 then redis.call('PEXPIREAT', key, over + SLACK) end
  at = at + 4
end
for k = at, #ARGV, 3 do
  if there(ARGV[k]) then tell(ARGV[k], '0', ARGV[k + 1], ARGV[k + 2], 'F') end
end
redis.call('HSET', roll, 'e:' .. node, ARGV[7], 's:' .. node, text(now))
return {'joined', now}
