-- Takes a node off the roll that has nothing left, because it stops. What it has is
-- counted until it comes back.
if redis.call('HGET', roll, 'e:' .. node) == epoch and redis.call('EXISTS', mine) == 0 then
  redis.call('HDEL', roll, 'e:' .. node, 's:' .. node, 'o:' .. node)
end
return {'left'}
