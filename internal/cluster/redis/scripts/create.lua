-- Makes budgets that are not there; four for each from ARGV[7] on: id, used and last reset
-- as the store has them, next reset in ms (0 for none).
for k = 7, #ARGV, 4 do
  if not there(ARGV[k]) then create(ARGV[k], ARGV[k + 1], ARGV[k + 2], tonumber(ARGV[k + 3])) end
end
return {'created'}
