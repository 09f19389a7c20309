package redis

import "context"

// Said reports whether Redis knows all that this node has.
func (b *Bank) Said() bool {
	for i := range b.partitions {
		if p := &b.partitions[i]; !p.isJoined() || !p.queue.empty() {
			return false
		}
	}
	return true
}

// LookAround looks for missing nodes.
func (b *Bank) LookAround(ctx context.Context) {
	for i := range b.partitions {
		b.partitions[i].findDeadNodes(ctx)
	}
}

// Out is of how many partitions Redis does not know the part of this node.
func (b *Bank) Out() (n int) {
	b.story.mu.Lock()
	defer b.story.mu.Unlock()
	for _, out := range b.story.out {
		if out {
			n++
		}
	}
	return n
}
