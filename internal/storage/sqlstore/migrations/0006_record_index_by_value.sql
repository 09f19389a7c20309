CREATE INDEX record_index_by_value ON record_index (kind, name, value, id)
