CREATE INDEX audit_checkpoints_by_seq ON audit_checkpoints (org_id, seq)
