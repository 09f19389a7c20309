package quota

import "slices"

// fewValues is the maximum number of values that are compared one by one; longer lists use a
// map.
const fewValues = 8

// condition is a compiled Condition.
type condition struct {
	key             Key
	lookup          func(*Call) (slug, id string)
	values, without values
}

// values is a compiled list of values.
type values struct {
	set  map[string]bool // of a long list of exact values
	list []pattern       // all others
}

func compile(c Condition) condition {
	return condition{key: c.Key, lookup: c.Key.reader(), values: compileValues(c.Key, c.Value), without: compileValues(c.Key, c.Excludes)}
}

func compileValues(k Key, list Values) values {
	var v values
	for _, text := range list {
		p, ok := k.read(text)
		switch {
		case !ok: // no call has it
		case p.all || k == modelKey || len(list) <= fewValues:
			v.list = append(v.list, p)
		default:
			if v.set == nil {
				v.set = make(map[string]bool, len(list))
			}
			v.set[text] = true
		}
	}
	return v
}

// meets reports whether a call meets the condition.
func (c *condition) meets(call *Call) bool {
	slug, id := c.lookup(call)
	kind := ""
	if c.key == modelKey {
		kind = call.Provider
	}
	if slug == "" && id == "" || c.key == modelKey && kind == "" {
		return false
	}
	return c.values.has(kind, slug, id) && !c.without.has(kind, slug, id)
}

// cover reports whether one of the patterns covers p.
func (v *values) cover(p pattern) bool {
	return v.set[p.text] || slices.ContainsFunc(v.list, func(q pattern) bool { return q.covers(p) })
}

func (v *values) has(kind, slug, id string) bool {
	if v.set[slug] || v.set[id] {
		return true
	}
	for i := range v.list {
		if v.list[i].meets(kind, slug) || v.list[i].meets(kind, id) {
			return true
		}
	}
	return false
}
