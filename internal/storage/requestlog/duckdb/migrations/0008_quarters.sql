-- Sums of quarters of a day, six hours: level 2. Days are 3 and weeks 4 from here on. A time
-- that begins or ends within a day reads rows of six hours at most where it read those of a day.
UPDATE slots SET level = level + 1 WHERE level >= 2;
-- Pairs of metadata are kept of workspaces alone: nobody is shown those of an organisation. Their column
-- goes with the next migration: one transaction cannot do both.
DELETE FROM pairs_days WHERE whole;
DELETE FROM pairs_weeks WHERE whole;
CREATE TABLE sums_quarters AS SELECT * FROM sums_weeks LIMIT 0;
CREATE TABLE bins_quarters AS SELECT * FROM bins_weeks LIMIT 0;
CREATE TABLE facets_quarters AS SELECT * FROM facets_weeks LIMIT 0;
CREATE TABLE pairs_quarters AS SELECT * EXCLUDE whole FROM pairs_weeks LIMIT 0;
