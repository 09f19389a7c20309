-- Begins a new epoch, ARGV[7], in which the node states all that it has: what it sent
-- before and did not arrive yet is void. ARGV[3] is the epoch that it was found under, empty
-- for none.
if (redis.call('HGET', roll, 'e:' .. node) or '') ~= epoch then return {'epoch'} end
if num(redis.call('HGET', roll, 'o:' .. node)) < done then
  -- A run of this node is missing: with it may be what others said. All state their parts
  -- again, as each finds out, and what was stored is read again.
  redis.call('HINCRBY', roll, 'g', 1)
  redis.call('HSET', roll, 'born', text(now), 'o:' .. node, text(done))
end
redis.call('HSETNX', roll, 'born', text(now))
redis.call('HSET', roll, 'e:' .. node, ARGV[7], 's:' .. node, text(now))
return {'claimed', redis.call('HINCRBY', roll, 'o:' .. node, 1), now}
