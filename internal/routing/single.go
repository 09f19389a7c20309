package routing

import "context"

// single uses the first target, whatever its circuit: a breaker with nothing to
// choose from is bypassed.
func (w *walk) single(ctx context.Context, n *Node) (Outcome, error) {
	return w.node(ctx, n.Targets[0])
}
