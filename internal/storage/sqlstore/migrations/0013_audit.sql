CREATE TABLE audit (
  id           {id} NOT NULL,
  org_id       {id} NOT NULL,
  workspace_id {id} NOT NULL,
  actor_id     {name} NOT NULL,
  actor_kind   {word} NOT NULL,
  action       {word} NOT NULL,
  kind         {word} NOT NULL,
  target_id    {name} NOT NULL,
  at_ms        BIGINT NOT NULL,
  remote_ip    {word} NOT NULL,
  method       {word} NOT NULL,
  path         {text} NOT NULL,
  request_id   {name} NOT NULL,
  status       INTEGER NOT NULL,
  body         {text} NOT NULL,
  PRIMARY KEY (id)
) {table}
