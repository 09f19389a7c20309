package quota

import (
	"slices"

	"sluice/internal/fault"
	"sluice/internal/ident"
)

// possible refuses conditions that no call can meet: fault.InvalidParameter At the field
// that rules the last one out.
func possible(list []Condition) error {
	for i, c := range list {
		if err := readable(c, path("conditions", i)); err != nil {
			return err
		}
		if !together([]Condition{c}) {
			return fault.New(fault.InvalidParameter, "every value of the condition is excluded, so no request meets it").At(path("conditions", i) + ".excludes")
		}
		var alike []Condition // of one key, up to this one
		for _, other := range list[:i+1] {
			if other.Key == c.Key {
				alike = append(alike, other)
			}
		}
		if !together(alike) {
			return fault.Newf(fault.InvalidParameter, "no request meets this and the other conditions of %s; all of them must be met, so put values of which one is enough into one condition", c.Key).At(path("conditions", i) + ".value")
		}
	}
	return nil
}

// readable refuses values that no call has.
func readable(c Condition, at string) error {
	for _, field := range []struct {
		name string
		list Values
	}{{".value", c.Value}, {".excludes", c.Excludes}} {
		for _, v := range field.list {
			if _, ok := c.Key.read(v); !ok {
				return fault.Newf(fault.InvalidParameter, "a %s is written @provider/model, for example @openai/gpt-4o, or @openai/* for all of a provider", c.Key).At(at + field.name)
			}
		}
	}
	return nil
}

// together reports whether a call may meet all of the conditions, which are of one key.
// What may be the slug and the id of one thing is taken for it.
func together(list []Condition) bool {
	tried := []pattern{{all: true}}
	for _, c := range list {
		tried = append(tried, patterns(c.Key, c.Value)...)
	}
	return slices.ContainsFunc(tried, func(p pattern) bool {
		return !slices.ContainsFunc(list, func(c Condition) bool { return !c.admits(p) })
	})
}

// admits reports whether the condition is met by everything that a pattern stands for,
// or by some of it where only single values are excluded.
func (c Condition) admits(p pattern) bool {
	covered := slices.ContainsFunc(patterns(c.Key, c.Value), func(q pattern) bool { return q.covers(p) || mayBe(c.Key, q, p) })
	return covered && !slices.ContainsFunc(patterns(c.Key, c.Excludes), func(q pattern) bool { return q.covers(p) })
}

func patterns(k Key, list Values) []pattern {
	var out []pattern
	for _, v := range list {
		if p, ok := k.read(v); ok {
			out = append(out, p)
		}
	}
	return out
}

// mayBe reports whether two words may name one thing: the slug and the id of it.
func mayBe(k Key, p, q pattern) bool {
	named := k == "workspace_id" || k == "virtual_key" || k == "config" || k == "prompt"
	return named && !p.all && !q.all && ident.ValidID(p.text) != ident.ValidID(q.text)
}
