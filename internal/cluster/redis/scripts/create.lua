-- Makes budgets that are not there; three for each from ARGV[7] on: id, used and last reset
-- as the store has them.
for k = 7, #ARGV, 3 do
  if not find(ARGV[k]) then create(ARGV[k], ARGV[k + 1], ARGV[k + 2]) end
end
return {'created'}
