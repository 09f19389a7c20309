package routing

import (
	"context"
	"slices"

	"sluice/internal/kernel/fault"
)

// condition sends the call to a target if its query holds.
type condition struct {
	query  query
	target int // index in the branch's targets
}

// conditional uses the target of the first condition that holds, else the default. It ignores
// circuit breakers, because the condition selects this target. Source: contract/dataplane.md
// 4.6.
func (w *walk) conditional(ctx context.Context, n *Node) (Outcome, error) {
	target := n.Strategy.target(w.facts)
	if target < 0 {
		err := fault.Newf(fault.InvalidRequest, "no condition of %s.strategy matches the request; add a default target", n.Path)
		return Outcome{Status: err.HTTPStatus(), Skipped: true, Err: err}, err
	}
	return w.node(ctx, n.Targets[target])
}

// target returns the index of the target of the first condition that holds, else that of the
// default, or -1 if there is no default.
func (s *Strategy) target(f Inputs) int {
	cached := paramCache{Inputs: f}
	for i := range s.conditions {
		if c := &s.conditions[i]; c.query.holds(&cached) {
			return c.target
		}
	}
	return s.otherwise
}

// paramCache caches parameters while conditions are evaluated. Each field of the body is
// decoded once, however many conditions use it, since both may be large. Decoded values are
// not retained for later calls.
type paramCache struct {
	Inputs
	params []param // that were requested
}

type param struct {
	key   string
	value any
	found bool
}

// Param implements Inputs and caches the result.
func (r *paramCache) Param(key string) (any, bool) {
	i := slices.IndexFunc(r.params, func(p param) bool { return p.key == key })
	if i < 0 {
		v, found := r.Inputs.Param(key)
		i, r.params = len(r.params), append(r.params, param{key, v, found})
	}
	return r.params[i].value, r.params[i].found
}
