CREATE INDEX responses_by_expiry ON responses (expires_ms)
