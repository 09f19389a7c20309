CREATE INDEX audit_by_org ON audit (org_id, id)
