package redis_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"pgregory.net/rapid"

	"sluice/internal/limits/quota"
	"sluice/internal/limits/redistest"
)

// world is three nodes that share one budget of 100, and the ledger of all that was ever
// used. What Redis has must be what the ledger says.
type world struct {
	t      *rapid.T
	tb     testing.TB
	server *redistest.Server
	client rueidis.Client
	store  *books
	clock  *clock
	nodes  []*member
	ledger []*entry
	vague  bool // Redis may not know what lay before a reset, because a node heard of it late
}

// member is a node, the wire by which it reaches Redis, and what it has.
type member struct {
	*node
	name string
	wire *redistest.Wire
	cut  bool
	deaf bool           // it has not heard what the store has
	open [][]quota.Hold // its calls under way
	owes []stored       // what it stored and has not told
}

// stored is what a node stored, and what the store said behind that.
type stored struct {
	deltas []quota.Delta
	meter  quota.Meter
}

type entry struct {
	node   *member
	usedAt time.Time
	units  int64
	stored bool
}

func newWorld(t *rapid.T, tb testing.TB, s *redistest.Server, wires []*redistest.Wire) *world {
	s.Wipe(tb)
	w := &world{t: t, tb: tb, server: s, store: new(books), clock: &clock{now: time.Now()}}
	w.store.set(quota.Meter{Subject: quota.Subject{ID: "k", OrgID: "o"}, BudgetKey: "b", Limit: 100})
	for i, wire := range wires {
		m := &member{name: fmt.Sprint("n", i), wire: wire}
		w.boot(m)
		w.nodes = append(w.nodes, m)
	}
	return w
}

func (w *world) boot(m *member) {
	o := options(m.name, redisServer(m.wire.Address), w.store)
	o.Clock = w.clock
	meter, _, _ := w.store.meter(w.tb.Context(), hold(0).Counter)
	o.Local.Load([]quota.Meter{meter})
	m.node, m.deaf = start(w.tb, o), false
}

// end stops all nodes.
func (w *world) end() {
	for _, m := range w.nodes {
		w.reconnect(m)
		m.stop()
	}
}

func (w *world) meter() quota.Meter {
	m, _, _ := w.store.meter(w.tb.Context(), hold(0).Counter)
	return m
}

// since is the last reset of the budget, stored or not.
func (w *world) since() time.Time {
	m := w.meter()
	if m.Due(w.clock.Now()) && m.LastReset.Before(m.NextReset) {
		return m.NextReset
	}
	return m.LastReset
}

// left is what the ledger leaves of the budget; below 0 when it is overdrawn.
func (w *world) left() int64 {
	left := int64(100)
	for _, e := range w.ledger {
		if !e.usedAt.Before(w.since()) {
			left -= e.units
		}
	}
	for _, m := range w.nodes {
		for _, holds := range m.open {
			left -= holds[0].Amount
		}
	}
	return left
}

// certain reports whether Redis must have exactly what the ledger says: every node told it
// and, where one of them heard late of a reset, nothing from before that waits to be stored.
func (w *world) certain() bool {
	for _, m := range w.nodes {
		if m.cut || m.deaf || len(m.owes) > 0 {
			return false
		}
	}
	w.vague = w.vague && slices.ContainsFunc(w.ledger, func(e *entry) bool { return !e.stored && e.usedAt.Before(w.since()) })
	return !w.vague
}

func (w *world) admit(m *member, amount int64) {
	holds := []quota.Hold{hold(amount)}
	refused, _, _, err := m.Reserve(w.tb.Context(), w.clock.Now(), holds)
	left := w.left()
	switch {
	case (err != nil) != m.cut:
		w.t.Fatalf("cut: %t, error: %v", m.cut, err)
	case err != nil:
	case refused < 0 && amount > left:
		w.t.Fatalf("%s admitted %d where %d were left", m.name, amount, left)
	case refused < 0:
		m.open = append(m.open, holds)
	case amount <= left && w.certain():
		w.t.Fatalf("%s refused %d where %d were left", m.name, amount, left)
	}
}

// finishCall ends the first of a node's calls with a share of what it held.
func (w *world) finishCall(m *member, percent int64) {
	if len(m.open) == 0 {
		return
	}
	holds := m.open[0]
	m.open = m.open[1:]
	units := holds[0].Amount * percent / 100
	w.ledger = append(w.ledger, &entry{node: m, usedAt: w.clock.Now(), units: units})
	m.Settle(w.clock.Now(), holds, []int64{units})
}

// flush stores what a node used, as spend does, and has it tell that.
func (w *world) flush(m *member, limit int) {
	w.storeUsage(m, limit)
	w.publishStored(m)
}

// storeUsage stores what a node used, the first most of its calls.
func (w *world) storeUsage(m *member, limit int) {
	var deltas []quota.Delta
	for _, e := range w.ledger {
		if e.node == m && !e.stored && len(deltas) < limit {
			e.stored = true
			deltas = append(deltas, quota.Delta{SubjectID: "k", BudgetKey: "b", Units: e.units, UsedAt: e.usedAt})
		}
	}
	if len(deltas) == 0 {
		return
	}
	after := w.store.add(deltas...)
	m.owes = append(m.owes, stored{deltas, after[len(after)-1]})
}

// publishStored has a node tell what it stored.
func (w *world) publishStored(m *member) {
	for _, s := range m.owes {
		m.MarkFlushed(s.deltas, []quota.Meter{s.meter})
	}
	m.owes = nil
}

// crash ends a node without a word; its calls count with all that they held, and are
// stored before it is there again.
func (w *world) crash(m *member) {
	w.cut(m)
	m.stop()
	for _, holds := range m.open {
		w.ledger = append(w.ledger, &entry{node: m, usedAt: w.clock.Now(), units: holds[0].Amount})
	}
	m.open = nil
	w.storeUsage(m, len(w.ledger))
	m.owes = nil // its next life reads what the store has
	m.wire.Restore()
	m.cut = false
	w.boot(m)
}

// reset is what somebody asked for; some nodes hear of it later.
func (w *world) reset() {
	m := w.meter()
	m.Reset(w.clock.Now())
	w.store.set(m)
	for _, n := range w.nodes {
		if n.deaf = rapid.IntRange(0, 3).Draw(w.t, "hears") == 0; n.deaf {
			w.vague = true
		} else {
			w.loadMeter(n)
		}
	}
}

// loadMeter tells a node what the store has.
func (w *world) loadMeter(n *member) {
	w.publishStored(n) // who stores and tells is not interrupted by who reads
	n.deaf = false
	n.Replace("k", []quota.Meter{w.meter()})
}

// due has the reset of a schedule come, which nobody stores before something is used behind
// it, or renew does.
func (w *world) due() {
	m := w.meter()
	m.NextReset = w.clock.Now().Add(time.Hour)
	w.change(m)
	w.clock.forward(time.Hour)
}

// renew is what the worker does behind a reset that was due.
func (w *world) renew() {
	if m := w.meter(); m.Due(w.clock.Now()) {
		m.Renew(m.NextReset)
		m.NextReset = time.Time{}
		w.change(m)
	}
}

// change stores a meter and tells all nodes.
func (w *world) change(m quota.Meter) {
	w.store.set(m)
	for _, n := range w.nodes {
		w.loadMeter(n)
	}
}

// wipe has Redis lose everything. Nodes that are cut off then could not say what they have.
func (w *world) wipe() {
	for _, m := range w.nodes {
		w.reconnect(m)
	}
	w.server.Wipe(w.tb)
	for _, m := range w.nodes { // each finds out by asking for another budget
		other := hold(1 << 50)
		other.Counter.Subject = "other"
		eventually(w.tb, "the node is back", func() bool {
			_, _, _, err := m.Reserve(w.tb.Context(), w.clock.Now(), []quota.Hold{other})
			return err == nil
		})
	}
}

// expire has Redis lose the budget alone.
func (w *world) expire() {
	c := w.client
	list, err := c.Do(w.tb.Context(), c.B().Keys().Pattern("sluice:*:c:k|b|").Build()).AsStrSlice()
	if err == nil && len(list) > 0 {
		err = c.Do(w.tb.Context(), c.B().Del().Key(list...).Build()).Error()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) cut(m *member) {
	if !m.cut {
		m.wire.Cut()
		m.cut = true
		eventually(w.tb, "the node knows that it is cut off", func() bool { return m.Err() != nil })
	}
}

func (w *world) reconnect(m *member) {
	if m.cut {
		m.wire.Restore()
		m.cut = false
		eventually(w.tb, "the node is back", func() bool { return m.Err() == nil })
	}
}

// check compares what Redis has with the ledger. Who has to wait for another one to tell
// has not said everything.
func (w *world) check() {
	hasUnpublished := slices.ContainsFunc(w.nodes, func(m *member) bool { return len(m.owes) > 0 })
	for _, m := range w.nodes {
		if !m.cut && !hasUnpublished {
			eventually(w.tb, "the node has said everything", m.IsPublished)
		}
	}
	for _, m := range w.nodes {
		if m.cut {
			continue
		}
		left, want := m.node.left(w.tb, hold(0)), max(w.left(), 0)
		if left > want || left != want && w.certain() {
			w.t.Fatalf("%s finds %d left, the ledger %d", m.name, left, want)
		}
	}
}

// TestRedisIsTheLedger: any sequence of calls, flushes, resets, cuts, crashes and losses of
// Redis keeps what Redis has equal to the ledger, or above it as long as a node cannot
// say what it has, or does not know of a reset.
func TestRedisIsTheLedger(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var wires []*redistest.Wire
	for range 3 {
		wires = append(wires, redistest.NewWire(t, server))
	}
	client := server.Client(t)
	rapid.Check(t, func(t2 *rapid.T) {
		w := newWorld(t2, t, server, wires)
		w.client = client
		defer w.end()
		if rapid.Bool().Draw(t2, "over a reset") { // both sides of which have something that is not stored
			m := w.nodes[0]
			w.admit(m, 30)
			w.finishCall(m, 100)
			w.check()
			w.due()
			w.admit(m, 40)
			w.finishCall(m, 100)
			w.check()
		}
		steps := []string{"admit", "admit", "end", "end"}
		for _, more := range [][]string{{"flush"}, {"keep", "tell"}, {"reset", "hear"}, {"due"}, {"renew"}, {"cut", "mend"}, {"crash"}, {"wipe"}, {"expire"}} {
			if rapid.Bool().Draw(t2, more[0]) { // few kinds at once go deeper
				steps = append(steps, more...)
			}
		}
		for range rapid.IntRange(1, 25).Draw(t2, "steps") {
			w.clock.forward(time.Millisecond) // the instants of resets and calls differ
			m := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t2, "node")]
			switch rapid.SampledFrom(steps).Draw(t2, "step") {
			case "admit":
				w.admit(m, rapid.Int64Range(1, 60).Draw(t2, "amount"))
			case "end":
				w.finishCall(m, rapid.Int64Range(0, 100).Draw(t2, "percent"))
			case "flush":
				w.flush(m, rapid.IntRange(1, 4).Draw(t2, "calls"))
			case "keep":
				w.storeUsage(m, rapid.IntRange(1, 4).Draw(t2, "calls"))
			case "tell":
				w.publishStored(m)
			case "reset":
				w.reset()
			case "hear":
				w.loadMeter(m)
			case "due":
				w.due()
				continue // what comes next finds a budget of which nobody took since
			case "renew":
				w.renew()
			case "cut":
				w.cut(m)
			case "mend":
				w.reconnect(m)
			case "crash":
				w.crash(m)
			case "wipe":
				w.wipe()
				for _, m := range w.nodes { // who stores may be the first to bring the budget
					w.flush(m, rapid.IntRange(0, 2).Draw(t2, "calls"))
				}
			case "expire":
				w.expire()
				w.flush(m, rapid.IntRange(0, 2).Draw(t2, "calls"))
			}
			w.check()
		}
	})
}
