package routing

import "context"

// single uses the first target whatever the state of its circuit, since there is no
// alternative.
func (w *walk) single(ctx context.Context, n *Node) (Outcome, error) {
	return w.node(ctx, n.Targets[0])
}
