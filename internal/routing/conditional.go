package routing

import (
	"context"

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
	target := n.Strategy.otherwise
	for i := range n.Strategy.conditions {
		if c := &n.Strategy.conditions[i]; c.query.holds(w.facts) {
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
