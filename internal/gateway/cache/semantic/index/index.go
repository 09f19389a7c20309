// Package index is the vector store in memory: an exact search by cosine within a partition, bounded
// in entries and bytes. It loses its entries when the process ends. Begin at Index.
package index

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/kernel/ident"
)

// Options are the bounds of an Index. Zero values select the defaults.
type Options struct {
	MaxEntries int   // default 100,000
	MaxBytes   int64 // of vectors and texts together; default 256 MiB. Removed entries may add as much
}

const (
	defaultMaxEntries = 100_000
	defaultMaxBytes   = 256 << 20

	// overhead is the size of an entry without vector and text, with its share of the maps.
	overhead = 320
)

// Index is a vectorstore.Store in memory. Create one with New.
type Index struct {
	clock      ident.Clock
	maxEntries int
	maxBytes   int64
	evicted    atomic.Int64

	mu         sync.Mutex // guards the rest
	partitions map[vectorstore.Partition]*list
	byKey      map[vectorstore.Key]*entry
	queue      []*entry // in the order in which entries are considered for eviction; removed ones too
	bytes      int64
}

var _ vectorstore.Store = (*Index)(nil)

// entry is a stored question. Only the atomic fields change.
type entry struct {
	key       vectorstore.Key
	partition vectorstore.Partition
	text      string
	vector    unit
	expires   time.Time
	size      int64

	removed atomic.Bool
	used    atomic.Bool // found since the last consideration for eviction
}

// New returns an empty index.
func New(clock ident.Clock, o Options) *Index {
	x := &Index{clock: clock, maxEntries: o.MaxEntries, maxBytes: o.MaxBytes}
	if x.maxEntries <= 0 {
		x.maxEntries = defaultMaxEntries
	}
	if x.maxBytes <= 0 {
		x.maxBytes = defaultMaxBytes
	}
	x.reset()
	return x
}

func (x *Index) reset() {
	x.partitions = map[vectorstore.Partition]*list{}
	x.byKey = map[vectorstore.Key]*entry{}
	x.queue, x.bytes = nil, 0
}

// Search implements vectorstore.Store. It never fails. The lock is not held while it compares.
func (x *Index) Search(_ context.Context, s vectorstore.Search) ([]vectorstore.Match, error) {
	if !vectorstore.IsUsable(s.Vector) {
		return nil, nil
	}
	query, now := newUnit(s.Vector), x.clock.Now()
	best := ranking{threshold: s.Threshold, max: s.MaxCount()}
	for _, e := range x.snapshot(s.Partition) {
		if e.removed.Load() || !now.Before(e.expires) {
			continue
		}
		if cosine, ok := query.cosine(&e.vector, best.threshold); ok {
			best.add(e, cosine)
		}
	}
	return best.matches(), nil
}

// snapshot returns the entries of a partition. Slices of entries are extended and replaced, and
// never changed, so they are read without the lock.
func (x *Index) snapshot(p vectorstore.Partition) []*entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l := x.partitions[p]; l != nil {
		return l.entries
	}
	return nil
}

// Put implements vectorstore.Store.
func (x *Index) Put(_ context.Context, e vectorstore.Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	added := &entry{key: e.Key, partition: e.Partition, text: e.Text, vector: newUnit(e.Vector), expires: e.Expires}
	added.size = overhead + int64(len(e.Text)) + added.vector.size()
	x.mu.Lock()
	defer x.mu.Unlock()
	if old := x.byKey[e.Key]; old != nil {
		x.remove(old)
	}
	x.byKey[added.key] = added
	x.list(added.partition).add(added)
	x.queue = append(x.queue, added)
	x.bytes += added.size
	x.evict()
	return nil
}

// Delete implements vectorstore.Store.
func (x *Index) Delete(_ context.Context, keys ...vectorstore.Key) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, key := range keys {
		if e := x.byKey[key]; e != nil {
			x.remove(e)
		}
	}
	return nil
}

// Purge implements vectorstore.Store.
func (x *Index) Purge(context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.byKey {
		e.removed.Store(true) // for searches that have begun
	}
	x.reset()
	return nil
}

// Stats are figures of an Index for metrics.
type Stats struct {
	Entries int   // expired ones that are not removed yet included
	Bytes   int64 // estimated
	Evicted int64 // since the start, expired ones included
}

// Stats returns the current figures.
func (x *Index) Stats() Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	return Stats{Entries: len(x.byKey), Bytes: x.bytes, Evicted: x.evicted.Load()}
}

// evict removes entries until the bounds hold: the oldest first, except that an entry that was found
// since it was last considered goes to the end of the queue once.
func (x *Index) evict() {
	now := x.clock.Now()
	for len(x.byKey) > x.maxEntries || x.bytes > x.maxBytes {
		e := x.queue[0]
		x.queue[0] = nil
		x.queue = x.queue[1:]
		switch {
		case e.removed.Load():
		case now.Before(e.expires) && e.used.Swap(false):
			x.queue = append(x.queue, e)
		default:
			x.remove(e)
			x.evicted.Add(1)
		}
	}
	if len(x.queue) > 2*len(x.byKey)+smallList {
		x.queue = slices.Collect(live(x.queue))
	}
}

// smallList is the length up to which a list is rewritten at each removal.
const smallList = 64

// list returns the list of a partition.
func (x *Index) list(p vectorstore.Partition) *list {
	l := x.partitions[p]
	if l == nil {
		l = &list{}
		x.partitions[p] = l
	}
	return l
}

// remove removes an entry from the maps and from its partition.
func (x *Index) remove(e *entry) {
	e.removed.Store(true)
	delete(x.byKey, e.key)
	x.bytes -= e.size
	l := x.partitions[e.partition]
	if l.remove(); len(l.entries) == 0 {
		delete(x.partitions, e.partition)
	}
}

// list is the entries of a partition. In a long list, removed entries stay until they are half of it,
// so that a removal takes constant time on average. Searches read the slice without a lock: it is extended
// and replaced, and its elements never change.
type list struct {
	entries []*entry
	removed int
}

func (l *list) add(e *entry) { l.entries = append(l.entries, e) }

// remove counts a removed entry.
func (l *list) remove() {
	l.removed++
	if len(l.entries) <= smallList || 2*l.removed > len(l.entries) {
		l.entries = slices.Collect(live(l.entries))
		l.removed = 0
	}
}

// live iterates over the entries that are not removed.
func live(entries []*entry) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, e := range entries {
			if !e.removed.Load() && !yield(e) {
				return
			}
		}
	}
}
