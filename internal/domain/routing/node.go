package routing

import (
	"cmp"

	"github.com/tidwall/gjson"
)

// node reads one object of the document and everything below it. path is its path in messages
// and parent the mode of which it is a target, both "" for the root. depth is 0 for the root.
func (p *parser) node(path string, depth int, v gjson.Result, from inherited, parent Mode) *Node {
	var d draft
	if !readObject(p, path, v, draftFields, &d) {
		return nil
	}
	p.content(path, &d)
	n := &Node{Path: rootPath, Name: d.name, Weight: 1}
	if path != "" {
		n.Path = rootPath + "." + path
	}
	if d.weight != nil {
		n.Weight = *d.weight
	}
	d.explicit.before, d.explicit.after = d.before.joined(), d.after.joined()
	down := from.with(&d.explicit)
	if d.strategy == nil && d.targets == nil {
		if parent == ModeConditional { // does not evaluate breakers
			down.breaker = nil
		}
		n.Target = down.leaf(n.Path, &d)
		n.hasBreaker = n.Target.Breaker != nil
		p.leaves = append(p.leaves, n.Target)
		return n
	}
	p.branch(path, depth, &d, n, down)
	return n
}

// branch reads the strategy and targets of a node.
func (p *parser) branch(path string, depth int, d *draft, n *Node, down inherited) {
	switch {
	case d.strategy == nil:
		p.failf(key(path, "strategy"), "is required with targets")
		return
	case d.targets == nil:
		p.failf(key(path, "targets"), "is required with strategy")
		return
	}
	if d.strategy.breaker != nil {
		down.breaker = d.strategy.breaker
	}
	list := key(path, "targets")
	p.eachItem(list, *d.targets, func(path string, v gjson.Result) {
		if t := p.node(path, depth+1, v, down, d.strategy.mode); t != nil {
			t.index = len(n.Targets)
			n.Targets = append(n.Targets, t)
			n.hasBreaker = n.hasBreaker || t.hasBreaker
		}
	})
	if d.targets.IsArray() && len(d.targets.Array()) == 0 {
		p.failf(list, "must have at least one target")
	}
	if depth == 0 {
		p.count(list, d.strategy.mode, n)
	}
	if len(p.issues) == 0 {
		n.Strategy = p.strategy(key(path, "strategy"), d.strategy, n)
	}
}

// count enforces the limits on the number of targets.
func (p *parser) count(list string, mode Mode, root *Node) {
	maxTargets := p.limits.RootTargets
	if mode == ModeConditional {
		maxTargets = p.limits.ConditionalTargets
	}
	if len(root.Targets) > maxTargets {
		p.failf(list, "must not have more than %d targets", maxTargets)
	}
	for i, t := range root.Targets {
		if t.countDescendants() > p.limits.NestedTargets {
			p.failf(item(list, i), "must not have more than %d targets below it", p.limits.NestedTargets)
		}
	}
}

// countDescendants returns the number of nodes below n.
func (n *Node) countDescendants() int {
	total := len(n.Targets)
	for _, t := range n.Targets {
		total += t.countDescendants()
	}
	return total
}

// with returns what a level passes on, given its explicit settings.
func (from inherited) with(explicit *inherited) inherited {
	from.id = cmp.Or(explicit.id, from.id)
	from.breaker = cmp.Or(explicit.breaker, from.breaker)
	from.defaults = merged(from.defaults, explicit.defaults)
	from.override = merged(from.override, explicit.override)
	from.drop = mergedList(from.drop, explicit.drop)
	from.retry = cmp.Or(explicit.retry, from.retry)
	from.cache = cmp.Or(explicit.cache, from.cache)
	from.timeout = cmp.Or(explicit.timeout, from.timeout)
	from.customHost = cmp.Or(explicit.customHost, from.customHost)
	if explicit.forward != nil {
		from.forward = explicit.forward
	}
	from.strict = cmp.Or(explicit.strict, from.strict)
	if explicit.before != nil {
		from.before = explicit.before
	}
	if explicit.after != nil {
		from.after = explicit.after
	}
	from.integrated = cmp.Or(explicit.integrated, from.integrated)
	from.continueStream = cmp.Or(explicit.continueStream, from.continueStream)
	from.providerCache = cmp.Or(explicit.providerCache, from.providerCache)
	return from
}
