package e2e

import (
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/limits/redistest"
	"sluice/internal/storage/sqlstore/storetest"
	"sluice/internal/test/upstream"
)

// cacheStatus is the header with the outcome of a lookup.
const cacheStatus = "x-gateway-cache-status"

// cachedChat makes a call that the cache may answer, and expects this outcome.
func (g *gateway) cachedChat(up *upstream.Server, want string, headers ...string) callResult {
	g.t.Helper()
	a := g.chat(append(append(custom(up), `x-gateway-config: {"cache":{"mode":"simple"}}`), headers...)...)
	if got := a.Header.Get(cacheStatus); got != want {
		g.t.Errorf("the cache status is %q, want %q: %s", got, want, a.Body)
	}
	return a
}

// The official clients of OpenAI and Anthropic parse what comes from the cache: complete and as a
// stream, whichever of both was stored, with calls of tools.
func TestCacheClients(t *testing.T) {
	t.Parallel()
	g, peer, claude := twoPeers(t, with("RESPONSE_CACHE_STORE=memory"))
	g.runFile(t, "cache.mjs", "")
	// Of each of the 8 pairs one call is sent, and two of the conversation with a tool.
	for _, up := range []*upstream.Server{peer, claude} {
		if n := up.Total(); n != 3*(8+2) {
			t.Errorf("%d calls reached the provider", n)
		}
	}
}

// Stored responses survive a restart on disk and do not in memory. What is on disk shows no prompt.
func TestCacheOverARestart(t *testing.T) {
	t.Parallel()
	for store, after := range map[string]string{"disk": "HIT", "memory": "MISS"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			up := upstream.Start(t)
			g := start(t, with("RESPONSE_CACHE_STORE="+store))
			first := g.cachedChat(up, "MISS")
			hit := g.cachedChat(up, "HIT")
			if a, b := first.get("id").String(), hit.get("id").String(); a == b || b == "" {
				t.Errorf("ids %q and %q", a, b)
			}
			g.cachedChat(up, "MISS", "x-gateway-cache-namespace: another")
			g.cachedChat(up, "REFRESH", "x-gateway-cache-force-refresh: true")
			g.chat(custom(up)...)
			if log := g.awaitLog(hit.Header.Get("x-gateway-request-id")); !strings.Contains(log.Body, `"HIT"`) {
				t.Errorf("log: %s", log.Body)
			}
			g.stop()
			g = g.again()
			before := up.Total()
			g.cachedChat(up, after)
			if sent := up.Total() - before; (sent == 0) != (after == "HIT") {
				t.Errorf("%d calls reached the provider after the restart", sent)
			}
		})
	}
}

// The lifetime of the organisation is that of responses whose call requests none, and the longest. A
// shorter one of a config counts.
func TestCacheLifetimeOfTheOrganisation(t *testing.T) {
	t.Parallel()
	up, redis := upstream.Start(t), redistest.Start(t)
	g := start(t, with("RESPONSE_CACHE_STORE=redis", "CACHE_STORE=memory", "REDIS_URL=redis://"+redis.Address))
	g.do(adminKey, "PUT", "/v1/organisations/self", object{"settings": object{"default_cache_ttl": 3600}})
	for cache, limit := range map[string]int64{
		`{"mode":"simple"}`: 3600, `{"mode":"simple","max_age":7776000}`: 3600, `{"mode":"simple","max_age":60}`: 60,
	} {
		redis.Wipe(t)
		tries := 0
		eventually(t, logLimit, "a response is stored for the time of the organisation", func() bool {
			tries++
			g.chat(append(custom(up), `x-gateway-config: {"cache":`+cache+`}`, "x-gateway-cache-namespace: "+strconv.Itoa(tries))...)
			left := longestLifetime(t, redis)
			return left > limit/2 && left <= limit
		})
	}
}

// longestLifetime returns the longest time to live of a key in Redis, in seconds; 0 if it is empty.
func longestLifetime(t *testing.T, redis *redistest.Server) (longest int64) {
	t.Helper()
	c, ctx := redis.Client(t), t.Context()
	keys, err := c.Do(ctx, c.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		left, err := c.Do(ctx, c.B().Ttl().Key(key).Build()).AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, left)
	}
	return longest
}

// Two nodes on one database and one Redis share stored responses. Redis has neither keys nor values
// that show a prompt, and each key expires. A Redis that was emptied means misses and no errors.
func TestCacheSharedInRedis(t *testing.T) {
	t.Parallel()
	up, redis, database := upstream.Start(t), redistest.Start(t), withDatabase(storetest.Postgres(t))
	shared := with("RESPONSE_CACHE_STORE=redis", "CACHE_STORE=memory", "REDIS_URL=redis://"+redis.Address)
	a := start(t, database, shared)
	b := start(t, database, shared)
	hits := func(g *gateway, headers ...string) bool {
		headers = append(append(custom(up), `x-gateway-config: {"cache":{"mode":"simple"}}`), headers...)
		return g.chat(headers...).Header.Get(cacheStatus) == "HIT"
	}
	eventually(t, inForce, "the other node has the key and reaches Redis", func() bool {
		return b.call("GET", "/v1/logs", "").Status == 200 && hits(b, "x-gateway-cache-namespace: of b")
	})
	// A lookup that takes too long is a miss, so that another response may be needed.
	tries := 0
	eventually(t, logLimit, "the other node has the response at its first call", func() bool {
		tries++
		header := "x-gateway-cache-namespace: of a " + strconv.Itoa(tries)
		eventually(t, logLimit, "the response is stored", func() bool { return hits(a, header) })
		return hits(b, header)
	})
	checkStored(t, redis)
	redis.Wipe(t)
	a.cachedChat(up, "MISS", "x-gateway-cache-namespace: of a 1")
	eventually(t, logLimit, "the response is stored again", func() bool { return hits(a, "x-gateway-cache-namespace: of a 1") })
}

// checkStored checks what someone finds who reads the whole Redis.
func checkStored(t *testing.T, redis *redistest.Server) {
	t.Helper()
	c, ctx := redis.Client(t), t.Context()
	keys, err := c.Do(ctx, c.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil || len(keys) < 2 {
		t.Fatalf("keys %q, %v", keys, err)
	}
	for _, key := range keys {
		if !hashedKey.MatchString(key) {
			t.Errorf("key %q", key)
		}
		if left, err := c.Do(ctx, c.B().Ttl().Key(key).Build()).AsInt64(); err != nil || left <= 0 {
			t.Errorf("key %q expires in %d s, %v", key, left, err)
		}
		if value, err := c.Do(ctx, c.B().Get().Key(key).Build()).ToString(); err != nil || value == "" || strings.Contains(value, "Hello") {
			t.Errorf("the value of %q is %q, %v", key, value, err)
		}
	}
}

var hashedKey = regexp.MustCompile(`^sluice:cache:[0-9a-f]{64}$`)

// A Redis that accepts connections and never answers does not keep calls from being answered.
func TestCacheOnAHungRedis(t *testing.T) {
	t.Parallel()
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	go func() {
		for {
			c, err := hung.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }() // until the gateway gives up
		}
	}()
	up := upstream.Start(t)
	g := start(t, with("RESPONSE_CACHE_STORE=redis", "CACHE_STORE=memory", "REDIS_URL=redis://"+hung.Addr().String()))
	const calls = 20
	for range calls {
		g.cachedChat(up, "MISS")
	}
	if n := up.Total(); n != calls {
		t.Errorf("%d calls reached the provider", n)
	}
	if metrics := g.call("GET", "/metrics", "").want(t, 200).Body; !strings.Contains(metrics, `sluice_cache_`) {
		t.Errorf("there are no metrics of the cache:\n%s", tail(metrics))
	}
	g.stop()
}
