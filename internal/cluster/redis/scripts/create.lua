-- Makes budgets that are not there; three for each from ARGV[7] on: id, used and last
-- reset as the store has them.
for k = 7, #ARGV, 3 do
  if redis.call('HEXISTS', prefix .. ARGV[k], 'b') == 0 then create(ARGV[k], ARGV[k + 1], ARGV[k + 2]) end
end
return {'created'}
