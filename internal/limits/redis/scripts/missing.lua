-- Looks for nodes that were not heard of for ARGV[7] ms and lets go of what they had of
-- budgets that were reset since: the store would not count it either. The answer is how
-- many nodes are missing that still have something.
local missing = 0
local list = redis.call('HGETALL', roll)
for i = 1, #list, 2 do
  local who, seen = list[i]:sub(3), tonumber(list[i + 1])
  if list[i]:sub(1, 2) == 's:' and now - seen > tonumber(ARGV[7]) then
    local theirs = prefix .. 'n:' .. who
    local had = redis.call('HGETALL', theirs)
    for k = 1, #had, 2 do
      local field, id = had[k]:sub(1, 1), had[k]:sub(2)
      if num(redis.call('HGET', prefix .. id, 'r')) > seen then
        if sums[field] then redis.call('HINCRBY', prefix .. id, field, minus(had[k + 1])) end
        redis.call('HDEL', theirs, had[k])
      end
    end
    if redis.call('EXISTS', theirs) == 1 then missing = missing + 1 end
  end
end
return {'missing', missing}
