CREATE INDEX records_in_org ON records (kind, org_id, id, status)
