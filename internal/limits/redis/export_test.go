package redis

import "context"

// IsPublished reports whether Redis knows all that this node has.
func (b *Limiter) IsPublished() bool {
	for i := range b.partitions {
		if p := &b.partitions[i]; !p.isJoined() || !p.queue.empty() {
			return false
		}
	}
	return true
}

// FindDeadNodes looks for missing nodes.
func (b *Limiter) FindDeadNodes(ctx context.Context) {
	for i := range b.partitions {
		b.partitions[i].findDeadNodes(ctx)
	}
}

// Out is of how many partitions Redis does not know the part of this node.
func (b *Limiter) Out() (n int) {
	b.health.mu.Lock()
	defer b.health.mu.Unlock()
	for _, out := range b.health.out {
		if out {
			n++
		}
	}
	return n
}
