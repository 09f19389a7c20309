CREATE UNIQUE INDEX audit_by_seq ON audit (org_id, seq)
