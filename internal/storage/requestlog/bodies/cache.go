package bodies

import "sync"

// cachedBlocks is the number of blocks that a store of objects caches: rows of a list are close
// together. (ours)
const cachedBlocks = 16

// block is a block before encoding.
type block struct {
	raw  []byte
	rest bool // its records have a rest
}

// blockRef is the position of a block.
type blockRef struct {
	node   string
	number uint32
	offset int64
}

// blockCache caches the blocks that were read last. It is safe for concurrent use.
type blockCache struct {
	mu     sync.Mutex // guards the following fields
	blocks map[blockRef]*block
	order  []blockRef // the oldest first
}

func (c *blockCache) find(ref blockRef) *block {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks[ref]
}

func (c *blockCache) put(ref blockRef, b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocks == nil {
		c.blocks = make(map[blockRef]*block)
	}
	if c.blocks[ref] == nil {
		if len(c.order) == cachedBlocks {
			delete(c.blocks, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, ref)
	}
	c.blocks[ref] = b
}

// forget drops the cached blocks of an object.
func (c *blockCache) forget(home string, number uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.order[:0]
	for _, ref := range c.order {
		if ref.node == home && ref.number == number {
			delete(c.blocks, ref)
		} else {
			left = append(left, ref)
		}
	}
	c.order = left
}
