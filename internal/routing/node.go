package routing

import (
	"cmp"

	"github.com/tidwall/gjson"
)

// node reads one object of the document and everything below it. at is its path
// in messages and parent the mode that it is a target of, both "" for the root; depth
// is 0 for the root.
func (p *parser) node(at string, depth int, v gjson.Result, from inherited, parent Mode) *Node {
	var d draft
	if !readObject(p, at, v, draftFields, &d) {
		return nil
	}
	p.content(at, &d)
	n := &Node{Path: rootPath, Name: d.name, Weight: 1}
	if at != "" {
		n.Path = rootPath + "." + at
	}
	if d.weight != nil {
		n.Weight = *d.weight
	}
	d.own.before, d.own.after = d.before.joined(), d.after.joined()
	down := from.with(&d.own)
	if d.strategy == nil && d.targets == nil {
		if parent == ModeConditional { // evaluates no breakers
			down.breaker = nil
		}
		n.Target = down.leaf(n.Path, &d)
		n.guarded = n.Target.Breaker != nil
		p.leaves = append(p.leaves, n.Target)
		return n
	}
	p.branch(at, depth, &d, n, down)
	return n
}

// branch reads the strategy and targets of a node.
func (p *parser) branch(at string, depth int, d *draft, n *Node, down inherited) {
	switch {
	case d.strategy == nil:
		p.failf(key(at, "strategy"), "is required with targets")
		return
	case d.targets == nil:
		p.failf(key(at, "targets"), "is required with strategy")
		return
	}
	if d.strategy.breaker != nil {
		down.breaker = d.strategy.breaker
	}
	list := key(at, "targets")
	p.eachItem(list, *d.targets, func(at string, v gjson.Result) {
		if t := p.node(at, depth+1, v, down, d.strategy.mode); t != nil {
			t.index = len(n.Targets)
			n.Targets = append(n.Targets, t)
			n.guarded = n.guarded || t.guarded
		}
	})
	if d.targets.IsArray() && len(d.targets.Array()) == 0 {
		p.failf(list, "must have at least one target")
	}
	if depth == 0 {
		p.count(list, d.strategy.mode, n)
	}
	if len(p.issues) == 0 {
		n.Strategy = p.strategy(key(at, "strategy"), d.strategy, n)
	}
}

// count enforces the caps on targets.
func (p *parser) count(list string, mode Mode, root *Node) {
	most := p.limits.RootTargets
	if mode == ModeConditional {
		most = p.limits.ConditionalTargets
	}
	if len(root.Targets) > most {
		p.failf(list, "must not have more than %d targets", most)
	}
	for i, t := range root.Targets {
		if t.below() > p.limits.NestedTargets {
			p.failf(item(list, i), "must not have more than %d targets below it", p.limits.NestedTargets)
		}
	}
}

// below is the number of nodes under n.
func (n *Node) below() int {
	total := len(n.Targets)
	for _, t := range n.Targets {
		total += t.below()
	}
	return total
}

// with is what a level hands down when own is what it says itself.
func (from inherited) with(own *inherited) inherited {
	from.id = cmp.Or(own.id, from.id)
	from.breaker = cmp.Or(own.breaker, from.breaker)
	from.defaults = merged(from.defaults, own.defaults)
	from.override = merged(from.override, own.override)
	from.drop = mergedList(from.drop, own.drop)
	from.retry = cmp.Or(own.retry, from.retry)
	from.cache = cmp.Or(own.cache, from.cache)
	from.timeout = cmp.Or(own.timeout, from.timeout)
	from.customHost = cmp.Or(own.customHost, from.customHost)
	if own.forward != nil {
		from.forward = own.forward
	}
	from.strict = cmp.Or(own.strict, from.strict)
	if own.before != nil {
		from.before = own.before
	}
	if own.after != nil {
		from.after = own.after
	}
	from.integrated = cmp.Or(own.integrated, from.integrated)
	from.continueStream = cmp.Or(own.continueStream, from.continueStream)
	return from
}
