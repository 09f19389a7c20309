CREATE TABLE batch_chunks (
  file_id    {word} NOT NULL,
  number     BIGINT NOT NULL,
  expires_ms BIGINT NOT NULL,
  data       {blob} NOT NULL,
  PRIMARY KEY (file_id, number)
) {table}
