CREATE TABLE batches (
  id           {word} NOT NULL,
  workspace_id {id} NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  ended        BIGINT NOT NULL,
  due_ms       BIGINT NOT NULL,
  version      BIGINT NOT NULL,
  body         {blob} NOT NULL,
  PRIMARY KEY (id)
) {table}
