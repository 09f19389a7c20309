// Package redisstore stores the entries of the response cache in Redis, so that all nodes share
// them. Each entry is one key: a hash of fixed length with an expiry. The value is sealed if a
// Sealer is set. Start with New.
//
// A server that is down, hangs or was flushed costs a call a few milliseconds at most, and nothing
// while the breaker is open: the call is a miss, and a failure is counted. The store connects in
// the background, and again after an outage.
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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway/cache/cachekey"
	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/timebox"
	"sluice/internal/kernel/background"
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

const (
	// prefix begins every key: "sluice:cache:" and 64 hexadecimal digits.
	prefix = "sluice:cache:"

	maxOperations = 256         // in progress at the same time
	lastWait      = time.Second // until an operation ends whose caller no longer waits
	dialTimeout   = time.Second
	bufferBytes   = 64 << 10
)

// errUnconnected means that there is no connection yet, or that the breaker is open.
var errUnconnected = errors.New("redis cannot be reached; try again later")

// Store is a store in Redis. It is safe for concurrent use. Create one with New.
type Store struct {
	o       Options
	counts  store.Counters
	breaker breaker
	guard   memoryGuard
	outage  *background.OutageLog
	box     *timebox.Box

	client     atomic.Pointer[rueidis.Client] // nil while not connected
	connecting sync.Mutex                     // held while connecting
	background sync.WaitGroup
}

var _ store.Store = (*Store)(nil)

// New returns a store and connects in the background. The caller closes it.
func New(o Options) *Store {
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 20*time.Millisecond)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 200*time.Millisecond)
	o.MaxEntry = cmp.Or(o.MaxEntry, 4<<20)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	c := &o.Server
	c.Dialer.Timeout = cmp.Or(c.Dialer.Timeout, dialTimeout)
	c.ConnWriteTimeout = cmp.Or(c.ConnWriteTimeout, lastWait)
	c.DisableRetry, c.DisableCache, c.ClientName = true, true, "sluice-cache"
	c.PipelineMultiplex, c.ReadBufferEachConn, c.WriteBufferEachConn = 1, bufferBytes, bufferBytes
	s := &Store{o: o, box: timebox.New(maxOperations), breaker: breaker{clock: o.Clock}, guard: memoryGuard{max: o.MaxMemory, clock: o.Clock},
		outage: background.NewOutageLog(o.Log, "cache: cannot use redis", "cache: redis can be used again")}
	s.connectInBackground()
	return s
}

// connectInBackground connects, unless another goroutine does.
func (s *Store) connectInBackground() {
	if !s.connecting.TryLock() {
		return
	}
	s.background.Go(func() {
		defer s.connecting.Unlock()
		if s.client.Load() != nil {
			return
		}
		client, err := rueidis.NewClient(s.o.Server)
		if err != nil {
			s.failed(err)
			return
		}
		s.client.Store(&client)
		s.breaker.succeeded()
		s.outage.Recovered()
	})
}

// run runs commands within a time limit, unless the breaker is open. The commands themselves may
// take longer: a broken connection is restored meanwhile.
func run[T any](ctx context.Context, s *Store, limit time.Duration, commands func(context.Context, rueidis.Client) (T, error)) (result T, err error) {
	if !s.breaker.allows() {
		return result, errUnconnected
	}
	client := s.client.Load()
	if client == nil {
		s.connectInBackground()
		return result, errUnconnected
	}
	result, err = timebox.Run(ctx, s.box, limit, func() (T, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(limit, lastWait))
		defer cancel()
		return commands(ctx, *client)
	})
	switch {
	case err == nil:
		s.breaker.succeeded()
		s.outage.Recovered()
	case ctx.Err() == nil:
		s.failed(err)
		s.dropReplica(client, err)
	}
	return result, err
}

// failed counts a failure. Errors that the server reports, for example that its memory is full,
// cost no time, so they do not open the breaker.
func (s *Store) failed(err error) {
	s.counts.Failures.Add(1)
	s.outage.Failed(err)
	if _, reported := rueidis.IsRedisErr(err); !reported {
		s.breaker.failed()
	}
}

// dropReplica closes the connection to a server that accepts no writes any more. The address may
// lead to the new primary, which an open connection never reaches. A cluster client detects that
// itself.
func (s *Store) dropReplica(client *rueidis.Client, err error) {
	reported, ok := rueidis.IsRedisErr(err)
	if ok && s.o.Server.ForceSingleClient && strings.HasPrefix(reported.Error(), "READONLY") && s.client.CompareAndSwap(client, nil) {
		(*client).Close() // operations in progress there fail
	}
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
	data, err := run(ctx, s, s.o.ReadTimeout, func(ctx context.Context, c rueidis.Client) ([]byte, error) {
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
	if err != nil && !errors.Is(err, errUnconnected) {
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
	return run(ctx, s, s.o.WriteTimeout, func(ctx context.Context, c rueidis.Client) (bool, error) {
		if full, err := s.guard.isFull(ctx, c); full || err != nil {
			return false, err
		}
		err := c.Do(ctx, c.B().Set().Key(name(key)).Value(rueidis.BinaryString(data)).Px(age).Build()).Error()
		return err == nil, err
	})
}

// Stats implements store.Store. The entries and bytes of all nodes are unknown.
func (s *Store) Stats() store.Stats {
	n := s.counts.Stats()
	n.Entries, n.Bytes = store.Unknown, store.Unknown
	return n
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.background.Wait()
	if c := s.client.Load(); c != nil {
		(*c).Close()
	}
	s.box.Wait()
	return nil
}
