package vaultstore_test

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/gateway/guardrails/placeholder/vaultstore"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/redistest"
)

var _ placeholder.Backend = (*vaultstore.Redis)(nil)

var (
	ann    = placeholder.Scope{Organisation: "org", Workspace: "ws", Caller: "ann"}
	bob    = placeholder.Scope{Organisation: "org", Workspace: "ws", Caller: "bob"}
	secret = []byte("secret of the tests")
)

// node is the store of one gateway.
type node struct {
	*placeholder.Store
	redis *vaultstore.Redis
}

// start returns the store of a node. It is not connected yet.
func start(t testing.TB, o vaultstore.Options, addresses ...string) *node {
	t.Helper()
	o.Server = rueidis.ClientOption{InitAddress: addresses, ForceSingleClient: len(addresses) == 1}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Clock == nil {
		o.Clock = ident.System{}
	}
	n := &node{redis: vaultstore.NewRedis(o)}
	t.Cleanup(func() {
		if err := n.redis.Close(); err != nil {
			t.Error(err)
		}
	})
	box, err := sealed.NewBox(secret)
	if err != nil {
		t.Fatal(err)
	}
	n.Store, err = placeholder.NewStore(placeholder.Options{Secret: secret, Sealer: box, Backend: n.redis, TTL: time.Hour, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// started returns the store of a node that is connected.
func started(t testing.TB, o vaultstore.Options, addresses ...string) *node {
	t.Helper()
	n := start(t, o, addresses...)
	n.await(t)
	return n
}

// await waits until the server can be used.
func (n *node) await(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, err := n.redis.Get(ctx, "caller/conversation"); err == nil {
			return
		} else if ctx.Err() != nil {
			t.Fatal("not connected:", err)
		}
		time.Sleep(time.Millisecond)
	}
}

// hide hides a value in a conversation and returns its placeholder.
func (n *node) hide(t testing.TB, scope placeholder.Scope, value, id string) string {
	t.Helper()
	v, err := n.Open(t.Context(), scope, id)
	if err != nil {
		t.Fatal(err)
	}
	name := v.Hide("EMAIL", value)
	if err := n.Save(t.Context(), scope, v, id); err != nil {
		t.Fatal(err)
	}
	return name
}

// restore restores a text with the values of a conversation.
func (n *node) restore(t testing.TB, scope placeholder.Scope, text, id string) string {
	t.Helper()
	v, err := n.Open(t.Context(), scope, id)
	if err != nil {
		t.Fatal(err)
	}
	return v.Restore(text)
}

func TestRedis_AnotherNodeRestoresWhatOneHid(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := started(t, vaultstore.Options{}, server.Address), started(t, vaultstore.Options{}, server.Address)
	name := a.hide(t, ann, "ann@example.com", "response:resp_1")
	if got := b.restore(t, ann, "to "+name, "response:resp_1"); got != "to ann@example.com" {
		t.Errorf("on the other node: got %q, want the value", got)
	}
	second := b.hide(t, ann, "second@example.com", "response:resp_1")
	restarted := started(t, vaultstore.Options{}, server.Address)
	if got := restarted.restore(t, ann, name+second, "response:resp_1"); got != "ann@example.comsecond@example.com" {
		t.Errorf("after a restart: got %q, want both values", got)
	}
	for what, got := range map[string]string{
		"another caller":       b.restore(t, bob, name, "response:resp_1"),
		"another conversation": b.restore(t, ann, name, "response:resp_2"),
	} {
		if got != name {
			t.Errorf("%s: got %q, want the placeholder", what, got)
		}
	}
}

func TestRedis_NodesMergeWhatTheyHideAtTheSameTime(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	nodes := []*node{started(t, vaultstore.Options{}, server.Address), started(t, vaultstore.Options{}, server.Address)}
	names := make([]string, 16)
	var wg sync.WaitGroup
	for i := range names {
		wg.Go(func() {
			n := nodes[i%2]
			v, err := n.Open(t.Context(), ann)
			names[i] = v.Hide("K", fmt.Sprint("value", i))
			if err == nil {
				err = n.Save(t.Context(), ann, v, "trace:1")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, name := range names {
		if got, want := nodes[0].restore(t, ann, name, "trace:1"), fmt.Sprint("value", i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestRedis_HasHashesAndSealedValuesWithAnExpiry is what an operator of a shared Redis sees.
func TestRedis_HasHashesAndSealedValuesWithAnExpiry(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	n := started(t, vaultstore.Options{}, server.Address)
	name := n.hide(t, ann, "ann@example.com", "trace:1")
	client := server.Client(t)
	list, err := client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice()
	if err != nil || len(list) != 3 {
		t.Fatalf("keys %q, %v", list, err)
	}
	form := regexp.MustCompile(`^sluice:placeholders:\{[0-9a-f]{32}\}:([0-9a-f]{32}|times|sizes)$`)
	for _, key := range list {
		if !form.MatchString(key) {
			t.Errorf("key %s has another form", key)
		}
		if ttl, err := client.Do(t.Context(), client.B().Pttl().Key(key).Build()).AsInt64(); err != nil || ttl <= 0 || ttl > time.Hour.Milliseconds() {
			t.Errorf("%s expires in %d ms, %v", key, ttl, err)
		}
		dump, err := client.Do(t.Context(), client.B().Dump().Key(key).Build()).ToString()
		if err != nil || strings.Contains(dump, "example") || strings.Contains(dump, name) || strings.Contains(dump, "EMAIL") {
			t.Errorf("%s contains %q, %v", key, dump, err)
		}
		if err := client.Do(t.Context(), client.B().Pexpire().Key(key).Milliseconds(0).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	if got := n.restore(t, ann, name, "trace:1"); got != name {
		t.Errorf("after the expiry: got %q, want the placeholder", got)
	}
}

func TestRedis_BoundsACallerWithoutHarmToOthers(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]vaultstore.Options{"conversations": {MaxConversations: 5}, "bytes": {MaxBytes: 500}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			n := started(t, o, server.Address)
			other := n.hide(t, ann, "ann@example.com", "trace:1")
			var names []string
			for i := range 20 {
				names = append(names, n.hide(t, bob, fmt.Sprint("bob", i, "@example.com"), fmt.Sprint("trace:", i)))
			}
			client := server.Client(t)
			list, err := client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice()
			if err != nil || len(list) > 3+2+8 {
				t.Errorf("%d keys, %v", len(list), err)
			}
			if got := n.restore(t, bob, names[0], "trace:0"); got != names[0] {
				t.Errorf("the first conversation: got %q, want the placeholder", got)
			}
			if got := n.restore(t, bob, names[19], "trace:19"); got == names[19] {
				t.Error("the last conversation is missing")
			}
			if got := n.restore(t, ann, other, "trace:1"); got != "ann@example.com" {
				t.Errorf("another caller: got %q, want the value", got)
			}
		})
	}
}

func TestRedis_AFlushLosesValuesAndNothingElse(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	n := started(t, vaultstore.Options{}, server.Address)
	name := n.hide(t, ann, "ann@example.com", "trace:1")
	server.Wipe(t)
	if got := n.restore(t, ann, name, "trace:1"); got != name {
		t.Errorf("got %q, want the placeholder", got)
	}
	if again := n.hide(t, ann, "ann@example.com", "trace:1"); again != name || n.restore(t, ann, name, "trace:1") != "ann@example.com" {
		t.Errorf("hidden again: got %q, want %q with its value", again, name)
	}
}

func TestRedis_WorksInACluster(t *testing.T) {
	t.Parallel()
	n := started(t, vaultstore.Options{MaxConversations: 2}, redistest.StartCluster(t).Addresses()...)
	for i := range 10 {
		scope := ann
		scope.Caller = fmt.Sprint("caller", i)
		for k := range 3 {
			id := fmt.Sprint("trace:", k)
			if name := n.hide(t, scope, "ann@example.com", id); n.restore(t, scope, name, id) != "ann@example.com" {
				t.Errorf("caller %d, %s: the value is missing", i, id)
			}
		}
	}
}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// A server that hangs delays three calls, then none until the breaker tries again.
func TestRedis_AServerThatHangsCostsThreeCallsTheirTimeLimit(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), &clock{now: time.Now()}
	other := started(t, vaultstore.Options{}, server.Address)
	name := other.hide(t, ann, "ann@example.com", "trace:1")
	n := started(t, vaultstore.Options{Timeout: 20 * time.Millisecond, Clock: c}, server.Address)
	server.Pause()
	defer server.Resume()
	for range 20 {
		v, err := n.Open(t.Context(), ann, "response:resp_1", "trace:1")
		if err == nil || v.Restore(name) != name {
			t.Fatalf("got %v and %q, want an error and the placeholder", err, v.Restore(name))
		}
		if v.Hide("EMAIL", "x@example.com"); n.Save(t.Context(), ann, v, "trace:1") == nil {
			t.Fatal("saving succeeds")
		}
	}
	if got := n.redis.Failures(); got != 3 {
		t.Errorf("%d operations waited for the server, want 3", got)
	}
	server.Resume()
	for range 1000 { // the first try may come while the server still wakes up
		c.move(30 * time.Second)
		if v, err := n.Open(t.Context(), ann, "trace:1"); err == nil && v.Restore(name) == "ann@example.com" {
			return
		}
	}
	t.Error("the value is not restored after the outage")
}

func TestRedis_AServerThatIsDownIsAnError(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	n := start(t, vaultstore.Options{}, address)
	v, err := n.Open(t.Context(), ann, "trace:1")
	if err == nil {
		t.Error("got no error")
	}
	if name := v.Hide("EMAIL", "a@b.c"); v.Restore(name) != "a@b.c" {
		t.Error("the vault is not usable")
	}
}

func TestRedis_ReconnectsAfterAnOutage(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t), &clock{now: time.Now()}
	wire := redistest.NewWire(t, server)
	n := started(t, vaultstore.Options{Clock: c}, wire.Address)
	name := n.hide(t, ann, "ann@example.com", "trace:1")
	wire.Cut()
	if v, err := n.Open(t.Context(), ann, "trace:1"); err == nil || v.Restore(name) != name {
		t.Errorf("without a connection: got %v and %q, want an error and the placeholder", err, v.Restore(name))
	}
	wire.Restore()
	n.await(t)
	for range 1000 { // each connection of the client fails once
		if v, err := n.Open(t.Context(), ann, "trace:1"); err == nil && v.Restore(name) == "ann@example.com" {
			return
		}
		c.move(30 * time.Second)
	}
	t.Error("the value is not restored after the outage")
}

func TestRedis_StopsBeforeTheMemoryOfTheServerIsFull(t *testing.T) {
	t.Parallel()
	server, c := redistest.Start(t, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction"), &clock{now: time.Now()}
	n := started(t, vaultstore.Options{Clock: c}, server.Address)
	large := strings.Repeat("x", 256<<10)
	for i := range 40 {
		c.move(5 * time.Second)
		v := placeholder.NewVault(secret, ann)
		v.Hide("K", large)
		if err := n.Save(t.Context(), ann, v, fmt.Sprint("trace:", i)); err != nil {
			if !strings.Contains(err.Error(), "no memory left") || i == 0 {
				t.Errorf("call %d: %v", i, err)
			}
			if got := n.redis.Failures(); got != 0 {
				t.Errorf("%d failures, want none", got)
			}
			return
		}
	}
	t.Error("every value was stored")
}
