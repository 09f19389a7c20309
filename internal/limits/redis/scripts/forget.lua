-- Takes a node off the roll that is gone for good, and gives back what it has of budgets.
-- One that was heard of within ARGV[7] ms lives: nothing is done. The answer has three for
-- each budget: its id, held, used.
local answer = {}
local seen = redis.call('HGET', roll, 's:' .. node)
if seen and now - seen <= tonumber(ARGV[7]) then return answer end
local had, at = redis.call('HGETALL', mine), {}
for i = 1, #had, 2 do
  local field, id = had[i]:sub(1, 1), had[i]:sub(2)
  if sums[field] and find(id) then redis.call('HINCRBY', prefix .. id, field, minus(had[i + 1])) end
  if not at[id] then
    at[id] = #answer
    answer[at[id] + 1], answer[at[id] + 2], answer[at[id] + 3] = id, '0', '0'
  end
  if field == 'h' then answer[at[id] + 2] = had[i + 1] end
  if field == 'u' then answer[at[id] + 3] = had[i + 1] end
end
redis.call('DEL', mine)
redis.call('HDEL', roll, 'e:' .. node, 's:' .. node, 'o:' .. node)
return answer
