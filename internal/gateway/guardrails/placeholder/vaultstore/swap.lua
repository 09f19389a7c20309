-- Stores a conversation of a caller if its present value is the expected one, and removes the oldest
-- conversations of the caller that exceed its share. Returns 1 if it was stored.
-- KEYS: the conversation, the expiry times of the caller's conversations, their sizes.
-- ARGV: SHA-1 of the present value, or empty; the new value; its duration in ms; the conversation; the
-- prefix of the keys of conversations; the most conversations of a caller; their most bytes.
local times, sizes = KEYS[2], KEYS[3]
local present = redis.call('GET', KEYS[1])
if (present and redis.sha1hex(present) or '') ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])

local function forget(conversation)
  local size = redis.call('HGET', sizes, conversation)
  if size then
    redis.call('HINCRBY', sizes, 'total', -size)
    redis.call('HDEL', sizes, conversation)
  end
  redis.call('ZREM', times, conversation)
end

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2] -- in microseconds: two conversations rarely have one time
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', times, '-inf', string.format('%.0f', now))) do
  forget(expired)
end
forget(ARGV[4])
redis.call('ZADD', times, string.format('%.0f', now + ARGV[3] * 1000), ARGV[4])
redis.call('HSET', sizes, ARGV[4], #ARGV[2])
local total = redis.call('HINCRBY', sizes, 'total', #ARGV[2])
while redis.call('ZCARD', times) > tonumber(ARGV[6]) or total > tonumber(ARGV[7]) do
  local oldest = redis.call('ZRANGE', times, 0, 0)[1]
  if not oldest then
    redis.call('DEL', sizes)
    break
  end
  redis.call('UNLINK', ARGV[5] .. oldest)
  forget(oldest)
  total = tonumber(redis.call('HGET', sizes, 'total'))
end
redis.call('PEXPIRE', times, ARGV[3])
redis.call('PEXPIRE', sizes, ARGV[3])
return 1
