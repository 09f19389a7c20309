package redisstore_test

import (
	"context"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway/cache/entry"
	"sluice/internal/gateway/cache/redisstore"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/gateway/cache/storetest"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/redistest"
)

func options(t testing.TB, c *storetest.Clock, addresses ...string) redisstore.Options {
	t.Helper()
	box, err := sealed.NewBox([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	return redisstore.Options{
		Server: rueidis.ClientOption{InitAddress: addresses, ForceSingleClient: len(addresses) == 1},
		Sealer: box, Clock: c, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
	}
}

// start opens a store that closes with the test.
func start(t testing.TB, o redisstore.Options) *redisstore.Store {
	t.Helper()
	s := redisstore.New(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// started opens a store and waits until it is connected.
func started(t testing.TB, o redisstore.Options) *redisstore.Store {
	t.Helper()
	s := start(t, o)
	await(t, "connected", func() bool {
		_, err := s.Purge(t.Context(), &entry.Filter{})
		return err == nil
	})
	return s
}

// await waits until a condition holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatal("not reached:", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestRedisIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, c *storetest.Clock) store.Store {
		return started(t, options(t, c, redistest.Start(t).Address))
	})
}

func TestAClusterIsAStore(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	c := storetest.NewClock()
	s := started(t, options(t, c, cluster.Addresses()...))
	for i := range byte(50) {
		s.Put(t.Context(), storetest.Key(i), storetest.Entry(c, "body"))
	}
	for i := range byte(50) {
		if _, ok := s.Get(t.Context(), storetest.Key(i)); !ok {
			t.Errorf("key %d is a miss", i)
		}
	}
	if n, err := s.Purge(t.Context(), &entry.Filter{Organisation: "org-1"}); len(n) != 50 || err != nil {
		t.Errorf("%d purged, %v", n, err)
	}
}

func TestNodesShareEntriesAndSurviveAFlush(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), storetest.NewClock()
	a, b := started(t, options(t, c, server.Address)), started(t, options(t, c, server.Address))
	for range 2 {
		a.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
		if e, ok := b.Get(t.Context(), storetest.Key(1)); !ok || string(e.Body) != "body" {
			t.Errorf("the other node gets %v", ok)
		}
		server.Wipe(t)
		if _, ok := b.Get(t.Context(), storetest.Key(1)); ok {
			t.Error("a hit after the flush")
		}
	}
	a.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	if n, err := b.Purge(t.Context(), &entry.Filter{Organisation: "org-1"}); len(n) != 1 || err != nil {
		t.Errorf("%d purged after the flush, %v", n, err)
	}
	if n := b.Stats(); n.Failures != 0 {
		t.Errorf("stats %+v", n)
	}
}

// TestKeysAreHashesWithAnExpiry is what someone sees who lists the keys of a shared Redis.
func TestKeysAreHashesWithAnExpiry(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), storetest.NewClock()
	s := started(t, options(t, c, server.Address))
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "a secret answer"))
	client := server.Client(t)
	keys, err := client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil || len(keys) != 1 || !regexp.MustCompile(`^sluice:cache:[0-9a-f]{64}$`).MatchString(keys[0]) {
		t.Fatalf("keys %q, %v", keys, err)
	}
	ttl, err := client.Do(t.Context(), client.B().Pttl().Key(keys[0]).Build()).AsInt64()
	if err != nil || ttl <= 0 || ttl > time.Hour.Milliseconds() {
		t.Errorf("it expires in %d ms, %v", ttl, err)
	}
	value, err := client.Do(t.Context(), client.B().Get().Key(keys[0]).Build()).ToString()
	if err != nil || strings.Contains(value, "secret") || strings.Contains(value, "org-1") {
		t.Errorf("value %q, %v", value, err)
	}
}

func TestValuesOfOthersAreMisses(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), storetest.NewClock()
	s := started(t, options(t, c, server.Address))
	client := server.Client(t)
	name := "sluice:cache:" + storetest.Key(1).String()
	if err := client.Do(t.Context(), client.B().Set().Key(name).Value("garbage").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Get(t.Context(), storetest.Key(1)); ok || s.Stats().Corrupt != 1 {
		t.Errorf("%v, stats %+v", ok, s.Stats())
	}
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	if _, ok := s.Get(t.Context(), storetest.Key(1)); !ok {
		t.Error("the value was not replaced")
	}
}

// TestAServerThatHangsCostsLittle uses a server that accepts connections and never responds.
func TestAServerThatHangsCostsLittle(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c := storetest.NewClock()
	s := start(t, options(t, c, l.Addr().String()))
	if _, ok := s.Get(t.Context(), storetest.Key(1)); ok {
		t.Error("a hit")
	}
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	if _, err := s.Purge(t.Context(), &entry.Filter{Organisation: "org-1"}); err == nil {
		t.Error("a purge that did nothing returned no error")
	}
}

// TestAServerThatHangsLaterOpensTheBreaker stops a server that was in use, and lets it continue.
func TestAServerThatHangsLaterOpensTheBreaker(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), storetest.NewClock()
	o := options(t, c, server.Address)
	o.ReadTimeout = 20 * time.Millisecond
	s := started(t, o)
	e := storetest.Entry(c, "body")
	e.Expires = c.Now().Add(store.DefaultMaxAge)
	s.Put(t.Context(), storetest.Key(1), e)
	server.Pause()
	defer server.Resume()
	for range 50 {
		if _, ok := s.Get(t.Context(), storetest.Key(1)); ok {
			t.Fatal("a hit while the server hangs")
		}
	}
	if n := s.Stats().Failures; n != 3 {
		t.Errorf("%d lookups waited for the server, want 3 until the breaker opens", n)
	}
	c.Move(time.Second)
	s.Get(t.Context(), storetest.Key(1))
	s.Get(t.Context(), storetest.Key(1))
	if n := s.Stats().Failures; n != 4 {
		t.Errorf("%d failures, want one more after the pause", n)
	}
	server.Resume()
	await(t, "a hit after the outage", func() bool {
		c.Move(10 * time.Second)
		_, ok := s.Get(t.Context(), storetest.Key(1))
		return ok
	})
}

func TestTheStoreReconnectsByItself(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), storetest.NewClock()
	wire := redistest.NewWire(t, server)
	wire.Cut()
	s := start(t, options(t, c, wire.Address))
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	if n := s.Stats(); n.Dropped != 1 {
		t.Errorf("stats %+v", n)
	}
	wire.Restore()
	works := func() bool {
		c.Move(time.Second)
		s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
		_, ok := s.Get(t.Context(), storetest.Key(1))
		return ok
	}
	await(t, "a hit after the start", works)
	wire.Cut()
	if _, ok := s.Get(t.Context(), storetest.Key(1)); ok {
		t.Error("a hit without a connection")
	}
	wire.Restore()
	await(t, "a hit after the outage", works)
}

// TestTheStoreLeavesAServerThatBecameAReplica moves the address to the new primary, to which open
// connections do not lead.
func TestTheStoreLeavesAServerThatBecameAReplica(t *testing.T) {
	t.Parallel()
	first, second, c := redistest.Start(t), redistest.Start(t), storetest.NewClock()
	follow := func(s *redistest.Server, host, port string) {
		client := s.Client(t)
		if err := client.Do(t.Context(), client.B().Arbitrary("REPLICAOF", host, port).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	name := redistest.Call(t, first)
	s := started(t, options(t, c, name.Address))
	for range 64 { // the client opens its two connections on demand, and picks one at random
		s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, "body"))
	}
	name.Move(second)
	host, port, _ := strings.Cut(second.Address, ":")
	follow(first, host, port)
	stored := s.Stats().Stored
	s.Put(t.Context(), storetest.Key(2), storetest.Entry(c, "body"))
	if n := s.Stats().Stored; n != stored {
		t.Errorf("%d entries count as stored, want %d", n, stored)
	}
	await(t, "a write to the new primary", func() bool {
		s.Put(t.Context(), storetest.Key(2), storetest.Entry(c, "body"))
		return s.Stats().Stored > stored
	})
	if n := s.Stats().Failures; n != 1 {
		t.Errorf("%d writes were refused, want 1", n)
	}
}

func TestWritesStopBeforeTheMemoryIsFull(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction"), storetest.NewClock()
	s := started(t, options(t, c, server.Address))
	text := strings.Repeat("x", 256<<10)
	for i := range byte(40) {
		c.Move(5 * time.Second)
		s.Put(t.Context(), storetest.Key(i), storetest.Entry(c, text))
	}
	if n := s.Stats(); n.Failures != 0 || n.Dropped == 0 || n.Stored == 0 {
		t.Errorf("stats %+v", n)
	}
}

func TestLargeEntriesAreDropped(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), storetest.NewClock()
	o := options(t, c, server.Address)
	o.MaxEntry = 4 << 10
	s := started(t, o)
	s.Put(t.Context(), storetest.Key(1), storetest.Entry(c, strings.Repeat("x", 4<<10)))
	if n := s.Stats(); n.Dropped != 1 {
		t.Errorf("stats %+v", n)
	}
}

func BenchmarkRedisGet(b *testing.B) {
	server, c := redistest.Start(b), storetest.NewClock()
	s := started(b, options(b, c, server.Address))
	s.Put(b.Context(), storetest.Key(1), storetest.Entry(c, strings.Repeat("x", 4<<10)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.Get(b.Context(), storetest.Key(1)); !ok {
			b.Fatal("a miss")
		}
	}
}
