-- When a row was taken over: rows of one transaction share it, and those of a later one
-- have a later time. Rows from before have none.
ALTER TABLE attempts ADD COLUMN arrived TIMESTAMP;
