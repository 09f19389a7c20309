// Package store declares what every store of the response cache does, and implements the one in
// memory. Packages diskstore and redisstore implement the others. Start with Store.
//
// Stores do not decide what may be stored or served: the gateway does, with the packages cachekey
// and entry.
package store

import (
	"context"
	"time"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
)

// Store stores entries until they expire, or until their memory is needed for newer ones. A store
// that fails or hangs behaves as if it were empty: calls of Get and Put return within
// milliseconds and count the failure. All methods are safe for concurrent use.
type Store interface {
	// Get returns the entry of a key, unless it has expired. The entry is shared; do not change it.
	Get(ctx context.Context, key cachekey.Key) (*entry.Entry, bool)

	// Put stores the entry, which replaces an older one. It is stored until e.Expires. The caller
	// must not change the entry afterwards. The store may drop the entry at any time, and drops one
	// that is too large. Put may return before the entry is stored.
	Put(ctx context.Context, key cachekey.Key, e *entry.Entry)

	// Delete removes the entry of a key if the filter selects it, so that no caller removes an
	// entry of another organisation. It returns whether there was such an entry.
	Delete(ctx context.Context, key cachekey.Key, f *entry.Filter) (bool, error)

	// Purge removes all entries that the filter selects, and returns their keys. After an error
	// some of them may remain. It reads the heads of all entries, so it may take seconds.
	Purge(ctx context.Context, f *entry.Filter) ([]cachekey.Key, error)

	// IsMissing reports whether the store has no entry of a key. It reports false if the store cannot
	// be used: then Get returns no entry either, but there may be one.
	IsMissing(ctx context.Context, key cachekey.Key) bool

	// Stats returns the state of the store and counts since its start. It does no I/O.
	Stats() Stats

	// Close ends the work of the store, and waits for entries that are being written. No other
	// method may be called afterwards.
	Close() error
}

// Stats are the figures of a store.
type Stats struct {
	Entries int64 // Unknown for a store that other nodes share
	Bytes   int64 // Unknown for a store that other nodes share

	Hits      int64
	Misses    int64
	Stored    int64
	Evictions int64 // entries removed before they expired, because their memory was needed
	Expired   int64 // expired entries removed
	Dropped   int64 // entries not stored: too large, or more than the store can write
	Failures  int64 // operations that failed or took too long
	Corrupt   int64 // entries that were removed because they cannot be read
}

// Unknown is a figure that a store does not have.
const Unknown = -1

// DefaultMaxAge is how long an entry is stored if no setting decides. Source: contract/dataplane.md
// 4.7.
const DefaultMaxAge = 7 * 24 * time.Hour
