-- Pairs of metadata are those of workspaces.
ALTER TABLE pairs_days DROP COLUMN IF EXISTS whole;
ALTER TABLE pairs_weeks DROP COLUMN IF EXISTS whole;
