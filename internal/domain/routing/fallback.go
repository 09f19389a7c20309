package routing

import (
	"context"
	"slices"
)

// fallback tries the preferred target, then the others in order, until an outcome is final, and returns the last outcome.
// Source: contract/dataplane.md 4.3. That a target which cannot serve the endpoint does not
// end the walk corrects 10.2, defect 2.
func (w *walk) fallback(ctx context.Context, n *Node) (out Outcome, err error) {
	for _, t := range w.preferredFirst(w.live(n)) {
		out, err = w.node(ctx, t)
		if w.isFinalOutcome(ctx, n.Strategy, &out) {
			break
		}
	}
	return out, err
}

// isFinalOutcome reports whether the fallback ends with this outcome.
func (w *walk) isFinalOutcome(ctx context.Context, s *Strategy, out *Outcome) bool {
	switch {
	case out.Final, ctx.Err() != nil:
		return true
	case out.Committed:
		return out.Err == nil || out.Ended || w.last == nil || !w.last.ContinueStream
	case out.Skipped, out.Status == 0:
		return false
	case s.OnStatus != nil:
		return !slices.Contains(s.OnStatus, out.Status)
	}
	return out.good()
}
