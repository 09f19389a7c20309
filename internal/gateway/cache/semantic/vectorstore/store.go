// Package vectorstore declares where a semantic cache stores the vectors of questions, and the parts
// that its remote implementations share. Package index is the store in memory; milvus and pinecone
// are clients of these services.
//
// A store contains no responses. An entry names the cache key of its response; the response cache
// decides whether that still exists and may be served. Begin at Store. Wrap a remote store in Limit,
// which makes a store that is down a miss.
package vectorstore

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"time"
)

// Key is the cache key of a response, for example the SHA-256 of its call.
type Key [32]byte

// String returns the key in hexadecimal, 64 digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Partition is an opaque hash of everything that must be equal for two calls to share a response:
// workspace, model, config, embedding model and the call without its last user text. Entries of
// two partitions never meet.
type Partition [32]byte

// String returns the partition in hexadecimal, 64 digits.
func (p Partition) String() string { return hex.EncodeToString(p[:]) }

// Limits of an entry.
const (
	MaxDimensions = 3072    // text-embedding-3-large; larger vectors are rejected
	MaxText       = 8 << 10 // bytes; longer texts are never equal to another text
	MaxMatches    = 16      // of one search
)

// Entry is a question with a stored response.
type Entry struct {
	Key       Key
	Partition Partition
	Vector    []float32 // of any length but zero; the store may retain it, so do not change it
	Text      string    // the last user text: "How do I reset my password?"
	Expires   time.Time // after which no search finds the entry
}

// Search requests the entries of a partition that are similar to a vector.
type Search struct {
	Partition Partition
	Vector    []float32
	Threshold float32 // smallest cosine, 0 to 1
	Limit     int     // largest number of matches, 1 to MaxMatches; other values are corrected
}

// MaxCount returns Limit within its range.
func (s *Search) MaxCount() int { return min(max(s.Limit, 1), MaxMatches) }

// Match is an entry that a search found.
type Match struct {
	Key    Key
	Text   string
	Cosine float32 // 0.97
}

// Store stores entries until they expire or are evicted. All methods are safe for concurrent use.
type Store interface {
	// Search returns matches of the partition, the most similar first. It never returns an entry of
	// another partition or an expired one. Treat an error as no match.
	Search(ctx context.Context, s Search) ([]Match, error)

	// Put stores an entry, in place of an entry with the same key. It returns ErrEntry for an entry
	// outside the limits.
	Put(ctx context.Context, e Entry) error

	// Delete removes the entries with these keys. Missing ones are not an error.
	Delete(ctx context.Context, keys ...Key) error

	// Purge removes all entries.
	Purge(ctx context.Context) error
}

// ErrEntry is the error of Put for an entry outside the limits.
var ErrEntry = errors.New("vector must have 1 to 3072 finite numbers that are not all zero, and text at most 8192 bytes")

// Check returns ErrEntry for an entry outside the limits.
func (e *Entry) Check() error {
	if len(e.Text) > MaxText || !IsUsable(e.Vector) {
		return ErrEntry
	}
	return nil
}

// IsUsable reports whether a vector has a direction: 1 to MaxDimensions finite numbers, not all zero.
func IsUsable(vector []float32) bool {
	if len(vector) == 0 || len(vector) > MaxDimensions {
		return false
	}
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	return sum > 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum)
}
