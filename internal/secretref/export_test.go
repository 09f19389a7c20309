package secretref

// Settle waits for what is being fetched.
func (r *Reader) Settle() { r.kept.busy.Wait() }
