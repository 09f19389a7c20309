CREATE INDEX usage_meters_by_reset ON usage_meters (next_reset_ms)
