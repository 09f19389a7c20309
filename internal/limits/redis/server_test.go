package redis_test

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/redis"
	"sluice/internal/limits/redistest"
	"sluice/internal/storage/sqlstore/storetest"
)

// TestTLS: a server with a private authority is trusted when that is, and no other.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca := storetest.NewCA(t)
	cert, key := ca.Issue(t, "127.0.0.1")
	s := redistest.StartTLS(t, cert, key, ca.PEM)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ca.PEM))
	good := redisServer(s.Address)
	good.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	n := start(t, options("a", good, new(books)))
	if _, refused, _ := n.take(t, time.Now(), hold(10)); refused != -1 {
		t.Error("refused:", refused)
	}
	if policy, err := redis.Check(t.Context(), good); err != nil || policy != "noeviction" {
		t.Error(policy, err)
	}
	stranger := redisServer(s.Address)
	stranger.TLS = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if _, err := redis.Check(t.Context(), stranger); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Error("a stranger is trusted:", err)
	}
}

// TestLogin: a user of its own and its password, and a database.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := s.Client(t)
	if err := c.Do(t.Context(), c.B().AclSetuser().Username("gw").Rule("on", ">s3cret", "~sluice:*", "+@all", "-@dangerous").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	login := redisServer(s.Address)
	login.Username, login.Password, login.Database = "gw", sealed.New("s3cret"), 3
	n := start(t, options("a", login, new(books)))
	if _, refused, _ := n.take(t, time.Now(), hold(10)); refused != -1 {
		t.Error("refused:", refused)
	}
	if policy, err := redis.Check(t.Context(), login); err != nil || policy != "" {
		t.Error("of a server that keeps its settings to itself:", policy, err)
	}
	login.Password = sealed.New("wrong")
	if _, err := redis.Check(t.Context(), login); err == nil {
		t.Error("a wrong password is taken")
	}
}

// TestFailover: a cluster loses a master under load and gets a new one; calls pass again,
// and what Redis has in the end is what was used.
func TestFailover(t *testing.T) {
	t.Parallel()
	const limit = 1 << 40
	c, b := redistest.StartCluster(t), new(books)
	nodes := []*node{start(t, options("a", redisServer(c.Addresses()...), b)), start(t, options("b", redisServer(c.Addresses()...), b))}
	var used, passed atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for n := nodes[i%2]; ; {
				select {
				case <-stop:
					return
				default:
				}
				h := hold(9)
				h.Limit = limit
				holds := []quota.Hold{h}
				if refused, _, _, err := n.Reserve(t.Context(), time.Now(), holds); err != nil || refused >= 0 {
					time.Sleep(time.Millisecond) // as a caller would
					continue
				}
				used.Add(7)
				n.Settle(time.Now(), holds, []int64{7})
				passed.Add(1)
			}
		})
	}
	moved := func(what string) {
		before := passed.Load()
		eventually(t, "calls pass "+what, func() bool { return passed.Load() > before+10 })
	}
	moved("at first")
	for _, s := range c.Servers[:3] { // the masters
		s.Kill()
		moved("without a master")
		s.Run(t)
		c.Await(t)
	}
	close(stop)
	all.Wait()
	for _, n := range nodes {
		eventually(t, "all is known", func() bool { return n.Err() == nil && n.IsPublished() })
	}
	for _, n := range nodes {
		h := hold(0)
		h.Limit = limit
		if left := n.left(t, h); left != limit-used.Load() {
			t.Errorf("%d are used for Redis, %d were", limit-left, used.Load())
		}
	}
}

// TestReplicaUnderTheName: a server that was made a replica keeps its connections, and refuses
// what is written there; the node comes to the new primary, to which the name leads, by itself.
func TestReplicaUnderTheName(t *testing.T) {
	t.Parallel()
	first, second := redistest.Start(t), redistest.Start(t)
	setPrimary := func(s, primary *redistest.Server) {
		host, port := "NO", "ONE"
		if primary != nil {
			host, port, _ = strings.Cut(primary.Address, ":")
		}
		c := s.Client(t)
		if err := c.Do(t.Context(), c.B().Arbitrary("REPLICAOF", host, port).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	setPrimary(second, first)
	name := redistest.Call(t, first)
	n := start(t, options("a", redisServer(name.Address), new(books)))
	taken, _, _ := n.take(t, time.Now(), hold(40))
	name.Move(second)
	setPrimary(second, nil)
	setPrimary(first, second)
	n.Settle(time.Now(), taken, []int64{25})
	eventually(t, "what ended counts at the new primary", func() bool {
		refused, left, _, err := n.Reserve(t.Context(), time.Now(), []quota.Hold{hold(1 << 50)}) // which is refused by Redis
		return err == nil && refused == 0 && left == 75
	})
}
