package routing

import (
	"context"
	"slices"

	"sluice/internal/fault"
)

// condition sends the call to a target when its query holds.
type condition struct {
	query  query
	target int // index in the branch's targets
}

// conditional uses the target of the first condition that holds, else the
// default. Circuit breakers are not evaluated: the condition asked for this
// target. Source: contract/dataplane.md 4.6.
func (w *walk) conditional(ctx context.Context, n *Node) (Outcome, error) {
	target := n.Strategy.target(w.facts)
	if target < 0 {
		err := fault.Newf(fault.InvalidRequest, "no condition of %s.strategy matches the request; add a default target", n.Path)
		return Outcome{Status: err.HTTPStatus(), Skipped: true, Err: err}, err
	}
	return w.node(ctx, n.Targets[target])
}

// target is the index of the target of the first condition that holds, else that of the
// default, -1 for none.
func (s *Strategy) target(f Inputs) int {
	cached := paramCache{Inputs: f}
	for i := range s.conditions {
		if c := &s.conditions[i]; c.query.holds(&cached) {
			return c.target
		}
	}
	return s.otherwise
}

// paramCache are facts while conditions look at them. A field of the body is decoded once,
// however many do: both may be large. What was decoded is not kept for the call to come.
type paramCache struct {
	Inputs
	params []param // that were asked for
}

type param struct {
	key   string
	value any
	found bool
}

// Param is that of Facts.
func (r *paramCache) Param(key string) (any, bool) {
	i := slices.IndexFunc(r.params, func(p param) bool { return p.key == key })
	if i < 0 {
		v, found := r.Inputs.Param(key)
		i, r.params = len(r.params), append(r.params, param{key, v, found})
	}
	return r.params[i].value, r.params[i].found
}
