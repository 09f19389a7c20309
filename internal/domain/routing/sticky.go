package routing

import (
	"hash/maphash"
	"strconv"
	"time"
)

// stickyKey identifies a caller at one loadbalance.
type stickyKey struct {
	scope, path string
	config      uint64
	caller      uint64 // hash of the hash_fields' values
}

// assignment is the target that is assigned to a caller.
type assignment struct {
	index   int // in the branch's targets
	expires time.Time
}

// stickyTarget returns the target assigned to the caller, if it is among the live targets,
// which all have a weight. Otherwise the policy chooses and the choice is stored. A caller
// without one of the hash fields has no assignment.
// Source: contract/dataplane.md 4.4.
func (w *walk) stickyTarget(n *Node, live []*Node) *Node {
	s := n.Strategy.Sticky
	if s == nil {
		return w.choose(n, live)
	}
	caller, ok := w.caller(s)
	if !ok {
		return w.choose(n, live)
	}
	key, now := stickyKey{w.scope, n.Path, w.config, caller}, w.engine.clock.Now()
	if a, ok := w.engine.sticky.get(key); ok && now.Before(a.expires) {
		for _, t := range live {
			if t.index == a.index {
				return t
			}
		}
	}
	chosen := w.choose(n, live)
	w.engine.sticky.put(key, assignment{chosen.index, now.Add(s.TTL)})
	return chosen
}

// caller hashes the values of the hash fields. ok is false if one is missing or is not a
// string, number or boolean. If hashes of different callers are equal, the callers only share
// a target.
func (w *walk) caller(s *Sticky) (hash uint64, ok bool) {
	var h maphash.Hash
	h.SetSeed(w.engine.sticky.seed)
	for _, f := range s.facts {
		v, ok := f.resolve(w.facts)
		if !ok {
			return 0, false
		}
		switch v := v.(type) {
		case string:
			_ = h.WriteByte('s')
			_, _ = h.WriteString(v)
		case float64:
			_ = h.WriteByte('n')
			_, _ = h.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		case bool:
			_ = h.WriteByte('b')
			_, _ = h.WriteString(strconv.FormatBool(v))
		default:
			return 0, false
		}
		_ = h.WriteByte(0)
	}
	return h.Sum64(), true
}
