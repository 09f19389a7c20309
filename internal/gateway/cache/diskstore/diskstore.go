// Package diskstore stores the entries of the response cache in files below a directory, one file
// for each entry. The names of the files are hashes, and their content is sealed if a Sealer is
// set. The index is in memory; it is read again at the start, so entries survive a restart. Start
// with Open.
//
// One process may use a directory at a time. Entries are written without fsync: a power failure
// may lose or damage some, and a damaged file is removed.
package diskstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/lru"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/timebox"
	"sluice/internal/kernel/background"
	"sluice/internal/kernel/ident"
)

// Options are the settings of a store. Dir, MaxBytes and Clock are required.
type Options struct {
	Dir         string        // created if it is missing
	MaxBytes    int64         // of all files, in whole blocks
	MaxEntries  int           // 0 means 131,072: each needs about 300 bytes of memory
	ReadTimeout time.Duration // of one lookup; 0 means 50 ms
	Sealer      entry.Sealer  // nil: files are not encrypted
	Clock       ident.Clock
	Log         *slog.Logger // nil discards logs
}

// Limits of the work in progress.
const (
	maxReads        = 64       // concurrent reads; each may hang with the disk
	maxWrites       = 1024     // entries that wait to be written
	maxPendingBytes = 64 << 20 // of these
	blockBytes      = 4 << 10  // files use whole blocks
)

// Store is a store on disk. It is safe for concurrent use. Create one with Open.
type Store struct {
	o      Options
	index  *lru.Map[*file]
	counts store.Counters
	outage *background.OutageLog

	reads   *timebox.Box
	writes  chan *file
	pending atomic.Int64 // bytes in writes
	stop    chan struct{}
	stopped chan struct{}
}

var _ store.Store = (*Store)(nil)

// file is the file of one entry.
type file struct {
	key     cachekey.Key
	head    entry.Head
	data    atomic.Pointer[[]byte] // content; nil after it was written
	removed atomic.Bool            // the index does not contain it any more
}

// Open opens a store and reads the heads of the files in its directory. Files that cannot be read
// or have expired are removed.
func Open(o Options) (*Store, error) {
	o.MaxEntries = cmp.Or(o.MaxEntries, 1<<17)
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 50*time.Millisecond)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Store{
		o: o, reads: timebox.New(maxReads), writes: make(chan *file, maxWrites),
		stop: make(chan struct{}), stopped: make(chan struct{}),
		outage: background.NewOutageLog(o.Log, "cannot use the cache directory; lookups are misses", "cache directory restored"),
	}
	s.index = lru.New(lru.Options[*file]{MaxBytes: o.MaxBytes, MaxEntries: o.MaxEntries, Clock: o.Clock, Removed: s.removed})
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the cache: %w", err)
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("read the directory of the cache: %w", err)
	}
	go s.write()
	return s, nil
}

// path returns the path of an entry: the first two digits of its key are the directory.
func (s *Store) path(key cachekey.Key) string {
	name := key.String()
	return filepath.Join(s.o.Dir, name[:2], name[2:])
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key cachekey.Key) (*entry.Entry, bool) {
	e := s.find(ctx, key)
	s.counts.Lookup(e != nil)
	return e, e != nil
}

// find returns an entry, or nil.
func (s *Store) find(ctx context.Context, key cachekey.Key) *entry.Entry {
	f, ok := s.index.Get(key)
	if !ok {
		return nil
	}
	data, ok := s.content(ctx, f)
	if !ok {
		return nil
	}
	e, err := entry.Open(s.o.Sealer, key, data)
	if err != nil {
		s.counts.Corrupt.Add(1)
		s.drop(f)
		return nil
	}
	if e.Expired(s.o.Clock.Now()) {
		return nil
	}
	return e
}

// drop removes a file from the index, unless a newer one is there already.
func (s *Store) drop(f *file) {
	s.index.Delete(f.key, func(it *lru.Item[*file]) bool { return it.Value == f })
}

// Put implements store.Store. The entry is found at once, and is written in the background.
func (s *Store) Put(_ context.Context, key cachekey.Key, e *entry.Entry) {
	data, err := entry.Envelope(s.o.Sealer, key, e)
	if err != nil {
		s.failed(err)
		return
	}
	size := int64(len(data))
	if s.pending.Add(size) > maxPendingBytes {
		s.pending.Add(-size)
		s.counts.Put(false)
		return
	}
	f := &file{key: key, head: entry.Head{Created: e.Created, Expires: e.Expires, Digests: e.Tags.Digests()}}
	f.data.Store(&data)
	stored := s.index.Put(lru.Item[*file]{Key: key, Value: f, Size: blocks(size), Expires: e.Expires})
	if stored {
		select {
		case s.writes <- f:
			s.counts.Put(true)
			return
		default: // the disk is too slow
			s.drop(f)
		}
	}
	s.pending.Add(-size)
	s.counts.Put(false)
}

// blocks returns the size of a file on disk.
func blocks(size int64) int64 { return (size + blockBytes - 1) / blockBytes * blockBytes }

// Delete implements store.Store.
func (s *Store) Delete(_ context.Context, key cachekey.Key, f *entry.Filter) (bool, error) {
	return s.index.Delete(key, matching(f)), nil
}

// Purge implements store.Store. It needs no I/O but for the removal of the files.
func (s *Store) Purge(_ context.Context, f *entry.Filter) ([]cachekey.Key, error) {
	failures := s.counts.Failures.Load()
	keys := s.index.DeleteMatching(matching(f))
	if s.counts.Failures.Load() > failures {
		return keys, fmt.Errorf("some files of %d removed entries remain until they expire; see the log", len(keys))
	}
	return keys, nil
}

// IsMissing implements store.Store. It does no I/O.
func (s *Store) IsMissing(_ context.Context, key cachekey.Key) bool {
	_, ok := s.index.Get(key)
	return !ok
}

func matching(f *entry.Filter) func(*lru.Item[*file]) bool {
	m := f.Matcher()
	return func(it *lru.Item[*file]) bool {
		return m.Matches(&it.Value.head.Digests, it.Value.head.Created)
	}
}

// Stats implements store.Store. Bytes are those of whole blocks.
func (s *Store) Stats() store.Stats {
	n := s.counts.Stats()
	n.Entries, n.Bytes = s.index.Len()
	return n
}

// Close implements store.Store. Entries that wait are written first.
func (s *Store) Close() error {
	close(s.stop)
	<-s.stopped
	return nil
}

func (s *Store) failed(err error) {
	s.counts.Failures.Add(1)
	s.outage.Failed(err)
}
