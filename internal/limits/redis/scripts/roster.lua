-- Lists the nodes on the roll, three for each: its name, for how many ms it was not heard
-- of, and of how many budgets it has something.
local answer = {}
local list = redis.call('HGETALL', roll)
for i = 1, #list, 2 do
  if list[i]:sub(1, 2) == 's:' then
    local who, ids, n = list[i]:sub(3), {}, 0
    for _, field in ipairs(redis.call('HKEYS', prefix .. 'n:' .. who)) do
      local id = field:sub(2)
      if not ids[id] then
        ids[id], n = true, n + 1
      end
    end
    answer[#answer + 1] = who
    answer[#answer + 1] = text(now - tonumber(list[i + 1]))
    answer[#answer + 1] = text(n)
  end
end
return answer
