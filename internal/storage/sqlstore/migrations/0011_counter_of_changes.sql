INSERT INTO counters (name, value) VALUES ('changes', 0)
