CREATE TABLE IF NOT EXISTS leases (
  name       {word} NOT NULL,
  holder     {name} NOT NULL,
  expires_ms BIGINT NOT NULL,
  PRIMARY KEY (name)
) {table}
