CREATE INDEX records_by_org ON records (kind, org_id, id)
