CREATE INDEX batches_by_due ON batches (ended, due_ms)
