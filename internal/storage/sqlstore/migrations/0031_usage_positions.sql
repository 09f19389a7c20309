CREATE TABLE usage_positions (
  node {id} NOT NULL,
  seq  BIGINT NOT NULL,
  PRIMARY KEY (node)
) {table}
