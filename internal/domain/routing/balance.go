package routing

import (
	"context"
	"slices"
	"time"
)

// balance sends the call to one target: the one assigned to the caller, else the choice of the
// policy. Source: contract/dataplane.md 4.4.
func (w *walk) balance(ctx context.Context, n *Node) (Outcome, error) {
	live := inRotation(w.live(n))
	if len(live) == 0 { // the targets with open circuits have all the weight: treat all as closed
		live = inRotation(n.Targets)
	}
	return w.measured(ctx, n.Strategy.Policy, w.stickyTarget(n, live))
}

// inRotation returns the nodes with a weight above 0. It allocates only if some have none.
func inRotation(nodes []*Node) []*Node {
	drained := slices.IndexFunc(nodes, func(t *Node) bool { return t.Weight <= 0 })
	if drained < 0 {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(t *Node) bool { return t.Weight <= 0 })
}

// choose returns the preferred target, or applies the policy. The targets all have a weight.
func (w *walk) choose(n *Node, live []*Node) *Node {
	if t := w.preferred(live); t != nil {
		return t
	}
	switch n.Strategy.Policy {
	case RoundRobin:
		return w.nextTurn(n, live)
	case LeastLatency:
		now := w.engine.clock.Now()
		chosen := w.lowest(live, func(st *state) float64 { return st.latency.estimate(now) })
		w.state(chosen).latency.claim(now)
		return chosen
	case LeastBusy:
		return w.lowest(live, func(st *state) float64 { return float64(st.inFlight.Load()) })
	default: // Weighted
		return w.draw(live)
	}
}

// draw selects a target at random by weight.
func (w *walk) draw(live []*Node) *Node {
	var total float64
	for _, t := range live {
		total += t.Weight
	}
	r := w.engine.rnd() * total
	var chosen *Node
	for _, t := range live {
		chosen = t // rounding may leave r above the last weight: then the last one is chosen
		if r < t.Weight {
			break
		}
		r -= t.Weight
	}
	return chosen
}

// nextTurn selects the live targets in turn.
func (w *walk) nextTurn(n *Node, live []*Node) *Node {
	turn := w.state(n).turn.Add(1) - 1
	return live[turn%uint64(len(live))]
}

// lowest selects the target with the lowest metric, one at random among equals.
func (w *walk) lowest(live []*Node, metric func(*state) float64) *Node {
	var best *Node
	var low float64
	from := int(w.engine.rnd() * float64(len(live)))
	for i := range live {
		t := live[(from+i)%len(live)]
		if f := metric(w.state(t)); best == nil || f < low {
			best, low = t, f
		}
	}
	return best
}

// measured runs the chosen target and updates the metrics that its policy needs.
func (w *walk) measured(ctx context.Context, p Policy, t *Node) (out Outcome, err error) {
	switch p {
	case LeastBusy:
		st := w.state(t)
		st.inFlight.Add(1)
		defer st.inFlight.Add(-1) // also when try panics
	case LeastLatency:
		defer func() {
			if out.countsForHealth() {
				w.state(t).latency.add(&out, w.engine.clock.Now())
			}
		}()
	case Weighted, RoundRobin: // need no metrics
	}
	return w.node(ctx, t)
}

// These are the parameters of least_latency.
const (
	latencyShare   = 0.3              // weight of the newest sample in the average
	latencyPenalty = 5 * time.Second  // minimum latency that a failed call counts as
	latencyMemory  = 60 * time.Second // age at which a measurement expires and the target is tried again
)
