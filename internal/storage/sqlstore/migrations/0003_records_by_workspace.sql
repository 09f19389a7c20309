CREATE INDEX records_by_workspace ON records (kind, workspace_id, id)
