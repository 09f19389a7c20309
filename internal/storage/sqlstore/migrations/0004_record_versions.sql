CREATE TABLE record_versions (
  kind         {word} NOT NULL,
  id           {id} NOT NULL,
  org_id       {id} NOT NULL,
  workspace_id {id} NOT NULL,
  slug         {exact},
  name         {name} NOT NULL,
  name_folded  {name} NOT NULL,
  status       {word} NOT NULL,
  version      BIGINT NOT NULL,
  created_ms   BIGINT NOT NULL,
  updated_ms   BIGINT NOT NULL,
  body         {text} NOT NULL,
  PRIMARY KEY (kind, id, version)
) {table}
