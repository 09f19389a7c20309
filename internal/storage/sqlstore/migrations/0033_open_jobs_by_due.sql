CREATE INDEX open_jobs_by_due ON open_jobs (due_ms)
