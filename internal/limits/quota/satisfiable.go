package quota

import (
	"slices"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// checkSatisfiable rejects conditions that no call can meet, with fault.InvalidParameter for
// the field that excludes the last possible value.
func checkSatisfiable(list []Condition) error {
	alike := make(map[Key][]allowedSet)
	for i, c := range list {
		if err := readable(c, path("conditions", i)); err != nil {
			return err
		}
		a := admissionOf(c)
		if !together([]allowedSet{a}) {
			return fault.New(fault.InvalidParameter, "excludes every value of the condition, so no request can match").WithParam(path("conditions", i) + ".excludes")
		}
		alike[c.Key] = append(alike[c.Key], a)
		if !together(alike[c.Key]) {
			return fault.Newf(fault.InvalidParameter, "no request can match all conditions of %s; put alternative values into one condition", c.Key).WithParam(path("conditions", i) + ".value")
		}
	}
	return nil
}

// readable rejects values that no call has.
func readable(c Condition, param string) error {
	for _, field := range []struct {
		name string
		list Values
	}{{".value", c.Value}, {".excludes", c.Excludes}} {
		for _, v := range field.list {
			if _, ok := c.Key.read(v); !ok {
				return fault.Newf(fault.InvalidParameter, "a %s must have the form @provider/model, for example @openai/gpt-4o, or @openai/* for all models of a provider", c.Key).WithParam(param + field.name)
			}
		}
	}
	return nil
}

// together reports whether a call may meet all of the conditions, which have the same key.
func together(list []allowedSet) bool {
	met := func(p pattern) bool {
		return !slices.ContainsFunc(list, func(a allowedSet) bool { return !a.admits(p) })
	}
	return met(pattern{all: true}) || slices.ContainsFunc(list, func(a allowedSet) bool { return slices.ContainsFunc(a.patterns, met) })
}

// allowedSet is the set of values that a condition allows. It is compiled once, because a
// condition may be checked against ten thousand patterns.
type allowedSet struct {
	patterns        []pattern
	values, without values
	slugs, ids      bool // some values may be the slug or id of a record that another value names
}

func admissionOf(c Condition) allowedSet {
	a := allowedSet{values: compileValues(c.Key, c.Value), without: compileValues(c.Key, c.Excludes)}
	named := c.Key == "workspace_id" || c.Key == "virtual_key" || c.Key == "config" || c.Key == "prompt"
	for _, v := range c.Value {
		p, ok := c.Key.read(v)
		if !ok {
			continue
		}
		a.patterns = append(a.patterns, p)
		id := ident.ValidID(p.text)
		a.ids, a.slugs = a.ids || named && !p.all && id, a.slugs || named && !p.all && !id
	}
	return a
}

// admits reports whether every value of a pattern meets the condition, or some value where
// only single values are excluded. A slug and an id that may belong to the same record are
// treated as equal.
func (a *allowedSet) admits(p pattern) bool {
	return (a.values.cover(p) || a.canMatch(p)) && !a.without.cover(p)
}

func (a *allowedSet) canMatch(p pattern) bool {
	return !p.all && (a.ids && !ident.ValidID(p.text) || a.slugs && ident.ValidID(p.text))
}
