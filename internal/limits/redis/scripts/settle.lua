-- Says what calls that ended gave back and used, and what the store was told. ARGV[7] is
-- how many of the first there are, five for each: id, held, used, when its window is over
-- in ms (of budgets below 0: the last reset that the node knew; 0 for none), when the last of
-- it was used in ms (of budgets). Then five for each of the second: id, stored, used and last
-- reset as the store has them, mode. Without any it is a sign of life. The answer has the
-- indexes of what was not taken because somebody else has to tell first.
local run = current()
if not run then return {'epoch'} end
redis.call('HSET', roll, 's:' .. node, text(now))
local at = 8
for _ = 1, tonumber(ARGV[7]) do
  local id, held, used, over = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
  local key = prefix .. id
  if over > 0 then
    if redis.call('EXISTS', key) == 1 then change(id, 'h', held) end
    change(id, 'u', used)
    redis.call('PEXPIREAT', key, over + SLACK)
  else
    local c = find(id)
    if c then
      change(id, 'h', held)
    elseif held ~= '0' then
      part(id, 'h', held)
    end
    if used ~= '0' then spend(id, c, tonumber(used), tonumber(ARGV[at + 4]), math.abs(over)) end
  end
  at = at + 5
end
local answer = {'done', run, now}
local i = 0
for k = at, #ARGV, 5 do
  if not tell(ARGV[k], ARGV[k + 1], ARGV[k + 2], ARGV[k + 3], ARGV[k + 4]) then answer[#answer + 1] = i end
  i = i + 1
end
return answer
