-- Takes all holds of a call, or none but the requests that come before the one that does
-- not fit. ARGV[7] is how long a new partition waits for its nodes, in ms; then seven for
-- each hold: kind (b budget, r rate), name, amount, limit, how (s soft, p spent at once, r
-- the rest where the amount does not fit; the answer then has what was taken for ahead),
-- span (of a budget its next reset, of a rate its width, in ms), ahead (how many requests
-- the node would take for later calls).
local run = current()
if not run then return {'epoch'} end
local ripe = num(redis.call('HGET', roll, 'born')) + tonumber(ARGV[7]) - now
if ripe > 0 then return {'wait', ripe} end

local holds = {}
local absent = {'absent'}
for at = 8, #ARGV, 7 do
  local h = {kind = ARGV[at], name = ARGV[at + 1], amount = ARGV[at + 2], limit = tonumber(ARGV[at + 3]), how = ARGV[at + 4], span = tonumber(ARGV[at + 5]), ahead = tonumber(ARGV[at + 6])}
  holds[#holds + 1] = h
  if h.kind == 'b' then
    h.id = 'c:' .. h.name
    h.budget = find(h.id)
    if not h.budget then
      absent[#absent + 1] = #holds - 1
      absent[#absent + 1] = num(redis.call('HGET', prefix .. h.id, 'v'))
    end
  else
    h.begin = now - (now - MONDAY) % h.span
    h.id = 'w:' .. h.name .. '@' .. text(h.begin)
    h.anew = h.begin + h.span
  end
end
if #absent > 1 then return absent end

-- standing is what was used of a budget behind its last reset, and what is held.
local function standing(h)
  local c = h.budget
  if now >= h.span and h.span > since(c) then
    begin(h.id, h.span)
    c.due = h.span
  elseif c.due > c.reset and now < c.due - SLACK then -- the clock went back behind it
    redis.call('HSET', prefix .. h.id, 'a', '0')
    c.due = 0
  end
  h.anew = h.span > now and h.span or 0
  local all = redis.call('HMGET', prefix .. h.id, 'u', 'h', 'e')
  return (c.due > c.reset and 0 or c.base) + num(all[1]) - num(all[3]), num(all[2])
end

local answer = {'taken', run, now}
for i, h in ipairs(holds) do
  local key, used, held = prefix .. h.id, 0, 0
  if h.kind == 'b' then
    used, held = standing(h)
  else
    local c = redis.call('HMGET', key, 'u', 'h')
    used, held = num(c[1]), num(c[2])
  end
  local amount, room, more = tonumber(h.amount), h.limit - used - held, 0
  if h.how == 'r' and room > 0 and amount > room then
    amount, h.amount = room, text(room)
  end
  if used >= h.limit or h.how ~= 's' and amount > room then
    for j = 1, i - 1 do
      if holds[j].how ~= 'p' then
        change(holds[j].id, 'h', minus(holds[j].amount))
      elseif holds[j].more > 0 then
        change(holds[j].id, 'u', minus(text(holds[j].more)))
      end
    end
    return {'refused', run, now, i - 1, math.max(room, 0), h.anew}
  end
  if h.how == 'p' then
    more = math.max(math.min(h.ahead, math.floor((room - amount) / 128)), 0)
    h.more = more
    change(h.id, 'u', text(amount + more))
    used = used + amount + more
  else
    change(h.id, 'h', h.amount)
    held = held + amount
    if h.how == 'r' then more = amount end
  end
  if h.kind == 'b' then
    redis.call('PEXPIRE', key, KEEP)
  else
    redis.call('PEXPIREAT', key, h.anew + SLACK)
  end
  answer[#answer + 1] = used
  answer[#answer + 1] = held
  answer[#answer + 1] = more
end
return answer
