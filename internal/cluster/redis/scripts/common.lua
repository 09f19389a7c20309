-- What all scripts have in common. KEYS[1] is the roll of the partition: a hash with
--   born       when the partition began, in ms: when it was first used, or lost something
--   g          how often it lost something: budgets of before are read from the store again
--   e:<node>   the epoch under which the node has stated its part
--   o:<node>   how many scripts the node has run in it
--   s:<node>   when it was last heard of, in ms
-- Besides, in the same slot:
--   <prefix>n:<node>        what the node has of budgets: u<id> used and not stored, h<id> held
--   <prefix>c:<name>        a budget: g as on the roll; b, r what the store says was used and when it was last
--                           reset; u, h what all nodes have; w, a what was waived by a
--                           reset that has come, and which
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

-- begin waives what a budget has when a reset has come that nobody waived yet and the store
-- does not know: before whatever is used behind that reset. 0 is none.
local function begin(id, due)
  if due == 0 then return end
  local c = redis.call('HMGET', prefix .. id, 'b', 'r', 'u', 'a')
  if num(c[2]) < due and num(c[4]) < due then
    redis.call('HSET', prefix .. id, 'w', text(num(c[1]) + num(c[3])), 'a', text(due))
  end
end

-- create makes a budget from what the store says and what all nodes have besides. Of the
-- latter nobody knows what lies behind a reset that is due: it counts, until it is stored.
local function create(id, used, reset, due)
  local u, h = 0, 0
  for _, field in ipairs(redis.call('HKEYS', roll)) do
    if field:sub(1, 2) == 'e:' then
      local p = redis.call('HMGET', prefix .. 'n:' .. field:sub(3), 'u' .. id, 'h' .. id)
      u, h = u + num(p[1]), h + num(p[2])
    end
  end
  redis.call('HSET', prefix .. id, 'g', lost, 'b', used, 'r', reset, 'u', '0', 'h', text(h), 'w', '0', 'a', '0')
  if now >= due then begin(id, due) end
  redis.call('HSET', prefix .. id, 'u', text(u))
  redis.call('PEXPIRE', prefix .. id, KEEP)
end

-- tell brings what the store says to a budget: d was used by this node and is stored now.
-- Modes: 'f' waits, and returns false, while somebody else stored something before and has
-- not told; 'F' does not wait; 'l' is for resets alone. 'c' and 'C' say that the store has
-- less or more than it said before: whoever takes next asks it again. 'c' is repeated, for
-- somebody may tell meanwhile what the store said before.
local function tell(id, d, used, reset, mode)
  local key = prefix .. id
  if mode == 'c' or mode == 'C' then
    redis.call('HDEL', key, 'b', 'r', 'w', 'a')
    return mode == 'C'
  end
  local c = redis.call('HMGET', key, 'b', 'r', 'u', 'w', 'a', 'g')
  if not c[1] or c[6] ~= lost then
    if mode ~= 'l' then
      if d ~= '0' then part(id, 'u', minus(d)) end
      if used ~= '' then create(id, used, reset, 0) end
    end
    return true
  end
  local base, last, u, w, a = num(c[1]), num(c[2]), num(c[3]), num(c[4]), num(c[5])
  if used ~= '' then
    local b, r = num(used), num(reset)
    if r == last and mode == 'f' and b - num(d) > base then return false end
    if r > last or r == last and b > base and mode ~= 'l' then
      redis.call('HSET', key, 'b', used, 'r', reset)
      base = b
      if r >= a then w, a = 0, 0 end
    end
  end
  if d ~= '0' then change(id, 'u', minus(d)) end
  redis.call('HSET', key, 'w', text(math.min(w, base + u - num(d))), 'a', text(a))
  return true
end
