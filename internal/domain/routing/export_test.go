package routing

// LRU gives tests the bounded table as a map of texts.
type LRU struct{ t *table[string, string] }

// NewLRU returns a table of one shard's worth of limit in every shard.
func NewLRU(limit int) LRU { return LRU{newTable[string, string](limit * shards)} }

// Put sets k and reports how many entries are left.
func (l LRU) Put(k, v string) int {
	l.t.put(k, v)
	n := 0
	l.t.each(func(string, string) { n++ })
	return n
}

// GetOrPut is getOrPut.
func (l LRU) GetOrPut(k, v string) string { return l.t.getOrPut(k, v) }

// Get is get.
func (l LRU) Get(k string) (string, bool) { return l.t.get(k) }

// Neighbour returns a further key of k's shard.
func (l LRU) Neighbour(k string) string {
	for n := k + "'"; ; n += "'" {
		if l.t.shard(n) == l.t.shard(k) {
			return n
		}
	}
}
