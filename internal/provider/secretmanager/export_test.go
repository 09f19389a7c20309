package secretmanager

// Wait waits for what is being fetched.
func (r *Reader) Wait() { r.cache.busy.Wait() }
