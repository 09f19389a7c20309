package redis_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/cluster/redistest"
	"sluice/internal/quota"
)

// world is three nodes that share one budget of 100, and the ledger of all that was ever
// used. What Redis has must be what the ledger says.
type world struct {
	t      *rapid.T
	tb     testing.TB
	server *redistest.Server
	store  *books
	clock  *clock
	nodes  []*member
	ledger []*entry
	vague  bool // Redis may not know what lay before a reset
}

// member is a node, the wire by which it reaches Redis, and its calls under way.
type member struct {
	*node
	name string
	wire *redistest.Wire
	cut  bool
	open [][]quota.Hold
}

type entry struct {
	node   *member
	at     time.Time
	units  int64
	stored bool
}

func newWorld(t *rapid.T, tb testing.TB, s *redistest.Server, wires []*redistest.Wire) *world {
	s.Wipe(tb)
	w := &world{t: t, tb: tb, server: s, store: new(books), clock: &clock{now: time.Now()}}
	w.store.set(quota.Meter{Carrier: quota.Carrier{ID: "k", OrgID: "o"}, Entry: "b", Limit: 100})
	for i, wire := range wires {
		m := &member{name: fmt.Sprint("n", i), wire: wire}
		w.boot(m)
		w.nodes = append(w.nodes, m)
	}
	return w
}

func (w *world) boot(m *member) {
	o := options(m.name, at(m.wire.Address), w.store)
	o.Clock = w.clock
	meter, _, _ := w.store.meter(w.tb.Context(), hold(0).Counter)
	o.Local.Load([]quota.Meter{meter})
	m.node = start(w.tb, o)
}

// end stops all nodes.
func (w *world) end() {
	for _, m := range w.nodes {
		w.mend(m)
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
		if !e.at.Before(w.since()) {
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

// certain reports whether Redis must have exactly what the ledger says: every node can
// tell it, and nothing waits to be stored of which a reset is to be kept.
func (w *world) certain() bool {
	for _, m := range w.nodes {
		if m.cut {
			return false
		}
	}
	if !w.vague {
		return true
	}
	for _, e := range w.ledger {
		if !e.stored && e.at.Before(w.since()) {
			return false
		}
	}
	return true
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

// settle ends the first of a node's calls with a share of what it held.
func (w *world) settle(m *member, percent int64) {
	if len(m.open) == 0 {
		return
	}
	holds := m.open[0]
	m.open = m.open[1:]
	units := holds[0].Amount * percent / 100
	w.ledger = append(w.ledger, &entry{node: m, at: w.clock.Now(), units: units})
	m.Settle(w.clock.Now(), holds, []int64{units})
}

// flush stores what a node used, as spend does; a node that recovers tells nobody.
func (w *world) flush(m *member, recovers bool) {
	var deltas []quota.Delta
	for _, e := range w.ledger {
		if e.node == m && !e.stored {
			e.stored = true
			deltas = append(deltas, quota.Delta{CarrierID: "k", Entry: "b", Units: e.units, At: e.at})
		}
	}
	if len(deltas) == 0 {
		return
	}
	after := w.store.add(deltas...)
	if !recovers {
		m.Flushed(deltas, after[len(after)-1:])
	}
}

// crash ends a node without a word; its calls count with all that they held, and are
// stored before it is there again.
func (w *world) crash(m *member) {
	w.vague = true // its next life may tell of a reset that nobody else knows of
	w.cut(m)
	m.stop()
	for _, holds := range m.open {
		w.ledger = append(w.ledger, &entry{node: m, at: w.clock.Now(), units: holds[0].Amount})
	}
	m.open = nil
	w.flush(m, true)
	m.wire.Mend()
	m.cut = false
	w.boot(m)
}

func (w *world) reset() {
	m := w.meter()
	m.Reset(w.clock.Now())
	w.change(m)
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
		n.Replace("k", []quota.Meter{m})
	}
}

// wipe has Redis lose everything. Nodes that are cut off then could not say what they have.
func (w *world) wipe() {
	for _, m := range w.nodes {
		w.mend(m)
	}
	w.server.Wipe(w.tb)
	w.vague = true
	for _, m := range w.nodes { // each finds out by asking
		m.take(w.tb, w.clock.Now(), hold(1<<50))
	}
}

func (w *world) cut(m *member) {
	if !m.cut {
		m.wire.Cut()
		m.cut = true
		eventually(w.tb, "the node knows that it is cut off", func() bool { return m.Err() != nil })
	}
}

func (w *world) mend(m *member) {
	if m.cut {
		m.wire.Mend()
		m.cut = false
		eventually(w.tb, "the node is back", func() bool { return m.Err() == nil })
	}
}

// check compares what Redis has with the ledger.
func (w *world) check() {
	for _, m := range w.nodes {
		if !m.cut {
			eventually(w.tb, "the node has said everything", m.Said)
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
// say what ended.
func TestRedisIsTheLedger(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var wires []*redistest.Wire
	for range 3 {
		wires = append(wires, redistest.Lay(t, server))
	}
	steps := []string{"admit", "admit", "admit", "admit", "end", "end", "end", "flush", "flush", "reset", "due", "renew", "cut", "mend", "crash", "wipe"}
	rapid.Check(t, func(t2 *rapid.T) {
		w := newWorld(t2, t, server, wires)
		defer w.end()
		for range rapid.IntRange(1, 25).Draw(t2, "steps") {
			w.clock.forward(time.Millisecond) // the instants of resets and calls differ
			m := w.nodes[rapid.IntRange(0, len(w.nodes)-1).Draw(t2, "node")]
			switch rapid.SampledFrom(steps).Draw(t2, "step") {
			case "admit":
				w.admit(m, rapid.Int64Range(1, 60).Draw(t2, "amount"))
			case "end":
				w.settle(m, rapid.Int64Range(0, 100).Draw(t2, "percent"))
			case "flush":
				w.flush(m, false)
			case "reset":
				w.reset()
			case "due":
				w.due()
				continue // what comes next finds a budget of which nobody took since
			case "renew":
				w.renew()
			case "cut":
				w.cut(m)
			case "mend":
				w.mend(m)
			case "crash":
				w.crash(m)
			case "wipe":
				w.wipe()
			}
			w.check()
		}
	})
}
