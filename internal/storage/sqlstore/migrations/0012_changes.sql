CREATE TABLE changes (
  seq     BIGINT NOT NULL,
  kind    {word} NOT NULL,
  id      {id} NOT NULL,
  deleted SMALLINT NOT NULL,
  PRIMARY KEY (seq)
) {table}
