CREATE TABLE open_jobs (
  id         {id} NOT NULL,
  job_key    {word} NOT NULL,
  node       {id} NOT NULL,
  created_ms BIGINT NOT NULL,
  due_ms     BIGINT NOT NULL,
  settled    BIGINT NOT NULL,
  body       {blob} NOT NULL,
  PRIMARY KEY (id)
) {table}
