CREATE TABLE record_index (
  id           {id} NOT NULL,
  kind         {word} NOT NULL,
  name         {word} NOT NULL,
  value        {exact} NOT NULL,
  unique_value {exact},
  PRIMARY KEY (id, kind, name, value),
  CONSTRAINT record_index_unique UNIQUE (kind, name, unique_value)
) {table}
