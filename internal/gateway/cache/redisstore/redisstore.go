// Package redisstore stores the entries of the response cache in Redis, so that all nodes share
// them. Each entry is one key: a hash of fixed length with an expiry. The value is sealed if a
// Sealer is set. Start with New.
//
// A server that is down, hangs or was flushed is a miss: see package redisconn.
//
// There are no index keys. Purge scans the keys instead and reads the first bytes of each value,
// which contain hashes of its tags. So a write is one command, an entry and its index cannot
// differ, and a flush leaves nothing to repair. The price is that a purge takes time in proportion
// to all keys of the server; purges are rare.
package redisstore

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/redisconn"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/kernel/ident"
)

// Options are the settings of a store. Server and Clock are required.
type Options struct {
	// Server is how to connect: InitAddress, Username, Password, SelectDB, TLSConfig and
	// ForceSingleClient. New sets timeouts and buffers.
	Server rueidis.ClientOption

	ReadTimeout  time.Duration // of one lookup; 0 means 20 ms
	WriteTimeout time.Duration // of one Put, which callers do not wait for; 0 means 200 ms
	MaxEntry     int           // size in bytes of the largest value; 0 means 4 MiB
	// MaxMemory is the used memory of a server, in bytes, above which entries are not stored any
	// more. 0 means 80 % of the server's maxmemory, if it has one and does not evict keys itself.
	MaxMemory int64

	Sealer entry.Sealer // nil: values are not encrypted
	Clock  ident.Clock
	Log    *slog.Logger // nil discards logs
}

// prefix begins every key: "sluice:cache:" and 64 hexadecimal digits.
const prefix = "sluice:cache:"

// Store is a store in Redis. It is safe for concurrent use. Create one with New.
type Store struct {
	o      Options
	counts store.Counters
	conn   *redisconn.Conn
}

var _ store.Store = (*Store)(nil)

// New returns a store and connects in the background. The caller closes it.
func New(o Options) *Store {
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 20*time.Millisecond)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 200*time.Millisecond)
	o.MaxEntry = cmp.Or(o.MaxEntry, 4<<20)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Store{o: o, conn: redisconn.New(redisconn.Options{Server: o.Server, Name: "cache", MaxMemory: o.MaxMemory, Clock: o.Clock, Log: o.Log})}
}

func name(key cachekey.Key) string { return prefix + key.String() }

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key cachekey.Key) (*entry.Entry, bool) {
	e := s.find(ctx, key)
	s.counts.Lookup(e != nil)
	return e, e != nil
}

// find returns an entry, or nil.
func (s *Store) find(ctx context.Context, key cachekey.Key) *entry.Entry {
	data, err := redisconn.Run(ctx, s.conn, s.o.ReadTimeout, func(ctx context.Context, c rueidis.Client) ([]byte, error) {
		r := c.Do(ctx, c.B().Get().Key(name(key)).Build())
		if rueidis.IsRedisNil(r.Error()) {
			return nil, nil
		}
		return r.AsBytes()
	})
	if err != nil || data == nil {
		return nil
	}
	e, err := entry.Open(s.o.Sealer, key, data)
	if err != nil {
		s.counts.Corrupt.Add(1)
		s.o.Log.Warn("cache: an entry in redis cannot be read and is replaced by the next one", "error", err.Error())
		return nil
	}
	if e.Expired(s.o.Clock.Now()) {
		return nil
	}
	return e
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key cachekey.Key, e *entry.Entry) {
	stored, err := s.put(ctx, key, e)
	if err != nil && !errors.Is(err, redisconn.ErrUnconnected) {
		s.o.Log.Debug("cache: an entry was not stored in redis", "error", err.Error())
	}
	s.counts.Put(stored)
}

func (s *Store) put(ctx context.Context, key cachekey.Key, e *entry.Entry) (stored bool, err error) {
	age := e.Expires.Sub(s.o.Clock.Now())
	if age < time.Millisecond || e.Size() > int64(s.o.MaxEntry) {
		return false, nil
	}
	data, err := entry.Envelope(s.o.Sealer, key, e)
	if err != nil {
		return false, err
	}
	return redisconn.Run(ctx, s.conn, s.o.WriteTimeout, func(ctx context.Context, c rueidis.Client) (bool, error) {
		if full, err := s.conn.IsFull(ctx, c); full || err != nil {
			return false, err
		}
		err := c.Do(ctx, c.B().Set().Key(name(key)).Value(rueidis.BinaryString(data)).Px(age).Build()).Error()
		return err == nil, err
	})
}

// Stats implements store.Store. The entries and bytes of all nodes are unknown.
func (s *Store) Stats() store.Stats {
	n := s.counts.Stats()
	n.Failures = s.conn.Failures()
	n.Entries, n.Bytes = store.Unknown, store.Unknown
	return n
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.conn.Close()
	return nil
}
