-- What all scripts have in common. KEYS[1] is the roll of the partition: a hash with
--   born       when the partition began, in ms: when it was first used, or lost something
--   g          how often it lost something: budgets of before are read from the store again
--   e:<node>   the epoch under which the node has stated its part
--   o:<node>   how many scripts the node has run in it
--   s:<node>   when it was last heard of, in ms
-- Besides, in the same slot:
--   <prefix>n:<node>        what the node has of budgets: h<id> held, u<id> used and not stored, and of
--                           that: t<id> when the last of it was used, e<id> how much lies before the last
--                           reset, as far as that is known, p<id> the last reset that the node knows
--   <prefix>c:<name>        a budget: g as on the roll; b, r what the store says was used and when it was last
--                           reset; a a reset by schedule that came since, which the store does not have
--                           yet; u, h, e what all nodes have; v how often it was told something while
--                           it was not there
--   <prefix>w:<name>@<ms>   a rate in the window that began then: u, h, and what each life
--                           of a node has of them, u:<life>, h:<life>
--
-- What counts of a budget is what was used behind its last reset, the later one of r and a:
-- b, unless a is the later one, and u - e.
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

local sums = {u = true, h = true, e = true} -- fields of a budget that sum what nodes have

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

-- find is what is known of a budget; nil when it is not there, or something was lost since
-- it was made.
local function find(id)
  local c = redis.call('HMGET', prefix .. id, 'g', 'b', 'r', 'a')
  if c[2] and c[1] == lost then return {base = num(c[2]), reset = num(c[3]), due = num(c[4])} end
end

-- since is the reset behind which a budget counts.
local function since(c) return math.max(c.reset, c.due) end

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

-- has is what a node has of a budget. What an older program noted has no time: no reset is
-- behind it.
local function has(theirs, id)
  local c = redis.call('HMGET', theirs, 'u' .. id, 't' .. id, 'p' .. id, 'e' .. id, 'h' .. id)
  local x = {used = num(c[1]), latest = num(c[2]), behind = num(c[3]), early = num(c[4]), held = num(c[5])}
  if c[1] and not c[2] then x.latest = 2 ^ 53 end
  x.noted = {used = x.used, early = x.early}
  return x
end

-- before reports whether what was used at a time lies before a reset. None does while that
-- is still to come, because a clock that was ahead brought it about: the store counts it.
local function before(t, reset) return t < reset and now >= reset end

-- early is how much of what a node used lies before a reset, as far as that is known.
local function early(x, reset)
  local e = before(x.latest, reset) and x.used or x.early
  return math.max(math.min(e, x.used), 0)
end

-- put notes what this node has used of a budget c, which is nil when it is not there.
local function put(id, c, x)
  x.early = early(x, c and since(c) or 0)
  if x.used == 0 then
    redis.call('HDEL', mine, 'u' .. id, 't' .. id, 'p' .. id, 'e' .. id)
  else
    redis.call('HSET', mine, 'u' .. id, text(x.used), 't' .. id, text(x.latest), 'p' .. id, text(x.behind), 'e' .. id, text(x.early))
  end
  if not c then return end
  if x.used ~= x.noted.used then redis.call('HINCRBY', prefix .. id, 'u', text(x.used - x.noted.used)) end
  if x.early ~= x.noted.early then redis.call('HINCRBY', prefix .. id, 'e', text(x.early - x.noted.early)) end
end

-- spend adds what this node used of a budget, the last of it at a time, behind the last
-- reset that it knew.
local function spend(id, c, units, t, behind)
  local x = has(mine, id)
  local reset = math.max(x.behind, c and since(c) or 0)
  t = math.max(t, behind)
  if behind > reset then
    x.early = early(x, behind)
  elseif before(t, reset) then
    x.early = x.early + units
  end
  x.used, x.latest, x.behind = x.used + units, math.max(x.latest, t), math.max(x.behind, behind)
  put(id, c, x)
end

-- gather sums what all nodes on the roll have of a budget, which counts behind a reset.
local function gather(id, reset)
  local u, h, e = 0, 0, 0
  for _, field in ipairs(redis.call('HKEYS', roll)) do
    if field:sub(1, 2) == 'e:' then
      local theirs = prefix .. 'n:' .. field:sub(3)
      local x = has(theirs, id)
      local lies = early(x, reset)
      if lies ~= x.early then redis.call('HSET', theirs, 'e' .. id, text(lies)) end
      u, h, e = u + x.used, h + x.held, e + lies
    end
  end
  redis.call('HSET', prefix .. id, 'u', text(u), 'h', text(h), 'e', text(e))
end

-- begin has a budget count behind a reset by schedule that has come.
local function begin(id, due)
  redis.call('HSET', prefix .. id, 'a', text(due))
  gather(id, due)
end

-- moved notes that the store has something else of a budget that is not there: nobody makes
-- it from what was read before.
local function moved(id)
  redis.call('HINCRBY', prefix .. id, 'v', 1)
  redis.call('PEXPIRE', prefix .. id, KEEP)
end

-- tell brings what the store says to a budget: d was used by this node and is stored now.
-- Modes: 'f' waits, and returns false, while somebody else stored something before and has
-- not told; 'F' does not wait; 'l' is for resets alone. 'c' and 'C' say that the store has
-- less or more than it said before: whoever takes next asks it again. 'C' comes behind 'c',
-- for somebody may tell meanwhile what the store said before, and 'w' while it waits.
local function tell(id, d, used, reset, mode)
  local key = prefix .. id
  if mode == 'w' then return false end
  if mode == 'c' or mode == 'C' then
    redis.call('HDEL', key, 'b')
    moved(id)
    return mode == 'C'
  end
  d = tonumber(d)
  local c, x = find(id), has(mine, id)
  local e = math.min(x.early, d) -- what is early is stored first
  x.used, x.early = x.used - d, x.early - e
  if not c then
    put(id, nil, x)
    moved(id)
    return true
  end
  local newer = false
  if used ~= '' then
    local b, r = tonumber(used), tonumber(reset)
    local counted = c.due > r and d or d - e
    if mode == 'f' and r == c.reset and b - counted > c.base then return false end
    newer = r > c.reset
    if newer or r == c.reset and b > c.base and mode ~= 'l' then
      redis.call('HSET', key, 'b', used, 'r', reset)
      c.reset = r
    end
    if c.due > r and d > e then -- the store counted what lies behind that reset, and has not got it
      redis.call('HSET', key, 'a', '0')
      c.due = 0
    end
  end
  put(id, c, x)
  if newer then gather(id, since(c)) end
  return true
end
