-- What all scripts have in common. KEYS[1] is the roll of the partition: a hash with
--   born       when the partition began, in ms: when it was first used, or lost something
--   g          how often it lost something: budgets of before are read from the store again
--   e:<node>   the epoch under which the node has stated its part
--   o:<node>   how many scripts the node has run in it
--   s:<node>   when it was last heard of, in ms
-- Besides, in the same slot:
--   <prefix>n:<node>        what the node has of budgets: u<id> used and not stored, h<id> held,
--                           e<id> what of u was used before the last reset: no store will count it
--   <prefix>c:<name>        a budget: g as on the roll; b, r what the store says was used and when it was last
--                           reset; u, h what all nodes have; w what of b and u does not count: what is
--                           early of all nodes and, while the reset a has come that the store does not
--                           know, b as it was then
--   <prefix>w:<name>@<ms>   a rate in the window that began then: u, h, and what each life
--                           of a node has of them, u:<life>, h:<life>
local roll, prefix, node, epoch, done, life = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[6]
local now = tonumber(ARGV[5])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local mine = prefix .. 'n:' .. node
local MONDAY = 345600000 -- windows are aligned to 1970-01-05
local SLACK = 60000      -- how far clocks may differ without any effect
local KEEP = 172800000   -- a budget that nobody asks for is read from the store again after two days

local lost = redis.call('HGET', roll, 'g') or '0'

local function num(v) return tonumber(v or 0) end
local function text(n) return string.format('%.0f', n) end
local function minus(s)
  if s:sub(1, 1) == '-' then return s:sub(2) end
  return s == '0' and s or '-' .. s
end

-- current is the number of this run when the node is on the roll under its epoch and
-- nothing that it did was lost, else false.
local function current()
  if redis.call('HGET', roll, 'e:' .. node) ~= epoch then return false end
  local run = redis.call('HINCRBY', roll, 'o:' .. node, 1)
  return run > done and run
end

-- there reports whether a budget is, and nothing was lost since it was made.
local function there(id)
  local c = redis.call('HMGET', prefix .. id, 'b', 'g')
  return c[1] and c[2] == lost
end

-- part adds to what this node has.
local function part(id, field, by)
  if id:sub(1, 1) == 'w' then
    redis.call('HINCRBY', prefix .. id, field .. ':' .. life, by)
  elseif redis.call('HINCRBY', mine, field .. id, by) == 0 then
    redis.call('HDEL', mine, field .. id)
  end
end

-- change adds to what this node and all have.
local function change(id, field, by)
  if by ~= '0' then
    redis.call('HINCRBY', prefix .. id, field, by)
    part(id, field, by)
  end
end

-- each visits the nodes on the roll: what they have, with what they have of a budget.
local function each(id, visit)
  for _, field in ipairs(redis.call('HKEYS', roll)) do
    if field:sub(1, 2) == 'e:' then
      local theirs = prefix .. 'n:' .. field:sub(3)
      local p = redis.call('HMGET', theirs, 'u' .. id, 'h' .. id, 'e' .. id)
      visit(theirs, num(p[1]), num(p[2]), num(p[3]))
    end
  end
end

-- mark notes how much of what a node has is early.
local function mark(theirs, id, e)
  if e > 0 then
    redis.call('HSET', theirs, 'e' .. id, text(e))
  else
    redis.call('HDEL', theirs, 'e' .. id)
  end
end

-- waive sets what does not count of a budget.
local function waive(id, w)
  local c = redis.call('HMGET', prefix .. id, 'b', 'u')
  redis.call('HSET', prefix .. id, 'w', text(math.max(math.min(w, num(c[1]) + num(c[2])), 0)))
end

-- begin waives what a budget has when a reset has come that nobody waived yet and the store
-- does not know: before whatever is used behind that reset. 0 is none.
local function begin(id, due)
  if due == 0 then return end
  local c = redis.call('HMGET', prefix .. id, 'b', 'r', 'u', 'a')
  if num(c[2]) < due and num(c[4]) < due then
    redis.call('HSET', prefix .. id, 'w', text(num(c[1]) + num(c[3])), 'a', text(due))
    each(id, function(theirs, u) mark(theirs, id, u) end)
  end
end

-- create makes a budget from what the store says and what all nodes have besides. Of the
-- latter nobody knows what lies behind a reset that is due: it counts, until it is stored.
local function create(id, used, reset, due)
  local u, h, w, a = 0, 0, 0, 0
  each(id, function(_, used, held, early) u, h, w = u + used, h + held, w + early end)
  if due ~= 0 and now >= due and num(reset) < due then w, a = w + num(used), due end
  redis.call('HSET', prefix .. id, 'g', lost, 'b', used, 'r', reset, 'u', text(u), 'h', text(h), 'a', text(a))
  waive(id, w)
  redis.call('PEXPIRE', prefix .. id, KEEP)
end

-- tell brings what the store says to a budget: d was used by this node and is stored now;
-- early is what the node has that lies before that reset, empty when it does not say.
-- Modes: 'f' waits, and returns false, while somebody else stored something before and has
-- not told; 'F' does not wait; 'l' is for resets alone. 'c' and 'C' say that the store has
-- less or more than it said before: whoever takes next asks it again. 'c' is repeated, for
-- somebody may tell meanwhile what the store said before.
local function tell(id, d, used, reset, mode, early)
  local key = prefix .. id
  if mode == 'c' or mode == 'C' then
    redis.call('HDEL', key, 'b', 'r', 'w', 'a')
    return mode == 'C'
  end
  local p = redis.call('HMGET', mine, 'u' .. id, 'e' .. id)
  local own, was = num(p[1]) - num(d), num(p[2])
  local e = math.max(was - num(d), 0) -- what is early is stored first
  local c = redis.call('HMGET', key, 'b', 'r', 'w', 'a', 'g')
  if not c[1] or c[5] ~= lost then
    if mode ~= 'l' then
      if d ~= '0' then part(id, 'u', minus(d)) end
      mark(mine, id, e)
      if used ~= '' then create(id, used, reset, 0) end
    end
    return true
  end
  local base, last, w, a, over = num(c[1]), num(c[2]), num(c[3]), num(c[4]), false
  if used ~= '' then
    local b, r = num(used), num(reset)
    if r == last and mode == 'f' and b - num(d) > base then return false end
    if r > last or r == last and b > base and mode ~= 'l' then
      redis.call('HSET', key, 'b', used, 'r', reset)
      last, over = r, a ~= 0 and r >= a
    end
    if early ~= '' and r == last and (a == 0 or over) then e = math.max(e, math.min(num(early), own)) end
  end
  if d ~= '0' then change(id, 'u', minus(d)) end
  mark(mine, id, e)
  if over then
    w = 0
    redis.call('HSET', key, 'a', '0')
    each(id, function(_, u, _, theirs) w = w + math.min(u, theirs) end)
  elseif a == 0 then
    w = w + e - was
  end
  waive(id, w)
  return true
end
