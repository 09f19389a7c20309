CREATE TABLE counters (
  name  {word} NOT NULL,
  value BIGINT NOT NULL,
  PRIMARY KEY (name)
) {table}
