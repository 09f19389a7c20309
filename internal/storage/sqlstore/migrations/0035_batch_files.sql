CREATE TABLE batch_files (
  id           {word} NOT NULL,
  workspace_id {id} NOT NULL,
  purpose      {word} NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  body         {blob} NOT NULL,
  PRIMARY KEY (id)
) {table}
