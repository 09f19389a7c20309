-- What an attempt cost, in nano-dollars. The cost is null when nobody knows it; the state
-- is that of its ledger line, the rest says how the cost came about or why there is none.
ALTER TABLE attempts ADD COLUMN cost_nano BIGINT;
ALTER TABLE attempts ADD COLUMN saved_nano BIGINT DEFAULT 0;
ALTER TABLE attempts ADD COLUMN bound_nano BIGINT DEFAULT 0;
ALTER TABLE attempts ADD COLUMN spend_state VARCHAR DEFAULT '';
ALTER TABLE attempts ADD COLUMN unpriced VARCHAR DEFAULT '';
ALTER TABLE attempts ADD COLUMN price_version VARCHAR DEFAULT '';
ALTER TABLE attempts ADD COLUMN cost_terms VARCHAR DEFAULT '';
