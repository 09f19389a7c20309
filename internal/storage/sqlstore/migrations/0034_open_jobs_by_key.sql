CREATE INDEX open_jobs_by_key ON open_jobs (job_key)
