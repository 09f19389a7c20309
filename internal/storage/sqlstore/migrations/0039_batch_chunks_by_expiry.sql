CREATE INDEX batch_chunks_by_expiry ON batch_chunks (expires_ms)
