CREATE INDEX batch_files_by_expiry ON batch_files (expires_ms)
