package redis

// Said reports whether Redis knows all that this node has.
func (b *Bank) Said() bool {
	for i := range b.partitions {
		if p := &b.partitions[i]; !p.isJoined() || !p.queue.empty() {
			return false
		}
	}
	return true
}
