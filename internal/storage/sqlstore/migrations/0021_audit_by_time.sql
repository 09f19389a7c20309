CREATE INDEX audit_by_time ON audit (org_id, at_ms)
