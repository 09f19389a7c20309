package flight

// Awaited reports whether other callers wait for this call.
func (t *Turn) Awaited() bool {
	if t.work == nil {
		return false
	}
	t.group.mu.Lock()
	defer t.group.mu.Unlock()
	return t.work.followers > 0
}
