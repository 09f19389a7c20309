CREATE INDEX records_in_workspace ON records (kind, workspace_id, org_id, id, status)
