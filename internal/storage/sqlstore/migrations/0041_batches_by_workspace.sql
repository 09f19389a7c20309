CREATE INDEX batches_by_workspace ON batches (workspace_id, created_ms, id)
