CREATE TABLE record_links (
  set_name {word} NOT NULL,
  from_id  {id} NOT NULL,
  to_id    {exact} NOT NULL,
  position BIGINT NOT NULL,
  body     {text} NOT NULL,
  PRIMARY KEY (set_name, from_id, to_id)
) {table}
