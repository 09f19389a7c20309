CREATE INDEX batch_files_by_workspace ON batch_files (workspace_id, created_ms, id)
