package redis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/redis"
	"sluice/internal/limits/redistest"
)

// TestForget: what a node has that is gone for good is held until somebody says so, and
// then there for others. A node that runs is not forgotten; one that comes back all the
// same has what it had.
func TestForget(t *testing.T) {
	t.Parallel()
	s, b := redistest.Start(t), new(books)
	wire := redistest.NewWire(t, s)
	lives, gone := start(t, options("lives", redisServer(s.Address), b)), start(t, options("gone", redisServer(wire.Address), b))
	spent, _, _ := gone.take(t, time.Now(), hold(30))
	gone.Settle(time.Now(), spent, []int64{20})
	open, _, _ := gone.take(t, time.Now(), hold(40))
	eventually(t, "all is said", gone.IsPublished)
	if _, err := redis.Forget(t.Context(), redisServer(s.Address), "gone"); err == nil || !strings.Contains(err.Error(), "is still running") {
		t.Error("a node that runs is forgotten:", err)
	}
	if _, err := redis.Forget(t.Context(), redisServer(s.Address), "nobody"); err == nil {
		t.Error("a node that never was is forgotten")
	}
	wire.Cut()
	eventually(t, "the node is cut off", func() bool { return gone.Err() != nil })
	silence(t, s, "gone")
	if left := lives.left(t, hold(0)); left != 40 {
		t.Error("what a missing node has is given away: left is", left)
	}
	list, err := redis.ListNodes(t.Context(), redisServer(s.Address))
	want := []redis.Node{{ID: "lives"}, {ID: "gone", Missing: true, Budgets: 1}}
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(redis.Node{}, "Silent")); diff != "" || err != nil {
		t.Error(err, diff)
	}
	released, err := redis.Forget(t.Context(), redisServer(s.Address), "gone")
	if diff := cmp.Diff([]quota.NodeShare{{Counter: hold(0).Counter, Held: 40, Used: 20}}, released); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if left := lives.left(t, hold(0)); left != 100 {
		t.Error("of a budget that nobody uses are left", left)
	}
	if list, err := redis.ListNodes(t.Context(), redisServer(s.Address)); err != nil || len(list) != 1 {
		t.Error(err, list)
	}
	wire.Restore()
	eventually(t, "the node states what it has", func() bool { return gone.Err() == nil && lives.left(t, hold(0)) == 40 })
	gone.Settle(time.Now(), open, nil)
	eventually(t, "what it did not use is there", func() bool { return lives.left(t, hold(0)) == 80 })
}

// TestForgetInCluster: nodes are found and forgotten in all slots.
func TestForgetInCluster(t *testing.T) {
	t.Parallel()
	c, b := redistest.StartCluster(t), new(books)
	n := start(t, options("n", redisServer(c.Addresses()...), b))
	for _, org := range []string{"o", "p", "q", "r"} {
		h := hold(10)
		h.Org, h.Counter.Subject = org, "k"+org
		n.take(t, time.Now(), h)
	}
	list, err := redis.ListNodes(t.Context(), redisServer(c.Addresses()...))
	if diff := cmp.Diff([]redis.Node{{ID: "n", Budgets: 4}}, list, cmpopts.IgnoreFields(redis.Node{}, "Silent")); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// silence has a node that is cut off be heard of last two minutes ago.
func silence(t testing.TB, s *redistest.Server, node string) {
	t.Helper()
	c := s.Client(t)
	rolls, err := c.Do(t.Context(), c.B().Keys().Pattern("sluice:*:roll").Build()).AsStrSlice()
	if err != nil || len(rolls) == 0 {
		t.Fatal(rolls, err)
	}
	for _, roll := range rolls {
		if err := c.Do(t.Context(), c.B().Hincrby().Key(roll).Field("s:"+node).Increment(-2*time.Minute.Milliseconds()).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
}
