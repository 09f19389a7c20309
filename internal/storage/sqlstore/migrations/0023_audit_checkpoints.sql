CREATE TABLE audit_checkpoints (
  org_id    {id} NOT NULL,
  number    BIGINT NOT NULL,
  seq       BIGINT NOT NULL,
  hash      {word} NOT NULL,
  at_ms     BIGINT NOT NULL,
  first_seq BIGINT NOT NULL,
  kept      BIGINT NOT NULL,
  key_id    {word} NOT NULL,
  signature {name} NOT NULL,
  PRIMARY KEY (org_id, number)
) {table}
