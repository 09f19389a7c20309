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
	if w.asked == nil {
		w.asked = &remembered{Facts: w.facts}
	}
	target := n.Strategy.otherwise
	for i := range n.Strategy.conditions {
		if c := &n.Strategy.conditions[i]; c.query.holds(w.asked) {
			target = c.target
			break
		}
	}
	if target < 0 {
		err := fault.Newf(fault.InvalidRequest, "no condition of %s.strategy matches the request and it has no default", n.Path)
		return Outcome{Status: err.HTTPStatus(), Skipped: true, Err: err}, err
	}
	return w.node(ctx, n.Targets[target])
}

// remembered are the facts of one walk. A field of the body is decoded once, however many
// conditions look at it: both may be large.
type remembered struct {
	Facts
	params []param // that were asked for
}

type param struct {
	key   string
	value any
	found bool
}

// Param is that of Facts.
func (r *remembered) Param(key string) (any, bool) {
	i := slices.IndexFunc(r.params, func(p param) bool { return p.key == key })
	if i < 0 {
		v, found := r.Facts.Param(key)
		i, r.params = len(r.params), append(r.params, param{key, v, found})
	}
	return r.params[i].value, r.params[i].found
}
