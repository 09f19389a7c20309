// Package param describes the parameters of guardrail checks: their names, and the forms of their
// values. A check lists its parameters as values of Param; saving a guardrail and reading a config
// compare what a person wrote with that list.
package param

import (
	"maps"
	"slices"
)

// Param is a parameter of a check.
type Param struct {
	Name     string // "minWords"
	Required bool
	form     Form
}

// Required is a parameter that a check needs.
func Required(name string, f Form) Param { return Param{Name: name, Required: true, form: f} }

// Optional is a parameter that may be absent.
func Optional(name string, f Form) Param { return Param{Name: name, form: f} }

// Check returns nil for a valid value of the parameter.
func (p *Param) Check(v any) *Problem { return p.form.check(v) }

// Parameters that many checks have.
var (
	Not     = Optional("not", Boolean)                      // inverts the verdict
	Timeout = Optional("timeout", PositiveInteger(300_000)) // milliseconds
	Count   = Number(0, 99_999_999)                         // a bound of something that is counted in a text
)

// common are the parameters of every check.
var common = []Param{Optional("failOnError", Boolean)}

// Check compares the values of a check with its parameters, and with those that every check has. It
// returns nil if each is valid. open accepts parameters that are not listed.
func Check(params []Param, values map[string]any, open bool) *Problem {
	known := slices.Concat(params, common)
	for _, p := range known {
		if _, sent := values[p.Name]; p.Required && !sent {
			return &Problem{"." + p.Name, "is required"}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(known, func(p Param) bool { return p.Name == name })
		switch {
		case i >= 0:
			if p := known[i].Check(values[name]); p != nil {
				return &Problem{"." + name + p.Path, p.Text}
			}
		case !open:
			return &Problem{"." + name, "unknown parameter of this check"}
		}
	}
	return nil
}
