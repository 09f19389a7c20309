package routing

import (
	"time"
)

// Preference is implemented by Inputs that prefer a target to the choice of a strategy: the one
// whose provider has the beginning of the conversation in its prompt cache.
type Preference interface {
	// Prefer returns the index of the preferred one of the targets, or -1 if none is preferred. The
	// targets have ProviderCacheAuto, closed circuits and, in a loadbalance, a weight above 0. There
	// is at least one.
	Prefer(targets []*Target) int
}

// preferred returns the node of a loadbalance or fallback to which the preferred target belongs, or
// nil. A loadbalance uses the target that is assigned to a caller first.
func (w *walk) preferred(nodes []*Node) *Node {
	p, ok := w.facts.(Preference)
	if !ok {
		return nil
	}
	c := candidates{walk: w, now: w.engine.clock.Now()}
	for _, n := range nodes {
		c.add(n, n)
	}
	if len(c.targets) == 0 {
		return nil
	}
	if i := p.Prefer(c.targets); i >= 0 && i < len(c.nodes) {
		return c.nodes[i]
	}
	return nil
}

// preferredFirst returns the nodes with the preferred one first. It allocates only if their order
// changes.
func (w *walk) preferredFirst(nodes []*Node) []*Node {
	first := w.preferred(nodes)
	if first == nil || first == nodes[0] {
		return nodes
	}
	out := append(make([]*Node, 0, len(nodes)), first)
	for _, n := range nodes {
		if n != first {
			out = append(out, n)
		}
	}
	return out
}

// candidates are the targets that may be preferred, each with its node of the strategy.
type candidates struct {
	walk    *walk
	now     time.Time
	targets []*Target
	nodes   []*Node
}

// add adds the targets of n that can take a call. They belong to node.
func (c *candidates) add(node, n *Node) {
	switch {
	case c.walk.open(n, c.now):
	case n.Target != nil:
		if n.Target.ProviderCache == ProviderCacheAuto {
			c.targets, c.nodes = append(c.targets, n.Target), append(c.nodes, node)
		}
	default:
		for _, t := range n.Targets {
			if t.Weight > 0 || n.Strategy.Mode != ModeLoadBalance {
				c.add(node, t)
			}
		}
	}
}
