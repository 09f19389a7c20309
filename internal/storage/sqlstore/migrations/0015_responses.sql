CREATE TABLE responses (
  id           {word} NOT NULL,
  workspace_id {id} NOT NULL,
  created_ms   BIGINT NOT NULL,
  expires_ms   BIGINT NOT NULL,
  input        {blob} NOT NULL,
  response     {blob} NOT NULL,
  PRIMARY KEY (id)
) {table}
