CREATE TABLE audit_heads (
  org_id         {id} NOT NULL,
  seq            BIGINT NOT NULL,
  hash           {word} NOT NULL,
  first_seq      BIGINT NOT NULL,
  checkpoint     BIGINT NOT NULL,
  checkpoint_seq BIGINT NOT NULL,
  checkpoint_ms  BIGINT NOT NULL,
  PRIMARY KEY (org_id)
) {table}
