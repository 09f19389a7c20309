package guardrail

import (
	"slices"
	"strings"
)

// Hook is the side of a call on which a check may run.
type Hook string

// The hooks.
const (
	Input  Hook = "input"  // before the provider is asked
	Output Hook = "output" // on its answer
)

// Known is a check that guardrails may name.
type Known struct {
	ID          string // "default.wordCount"; "zscaler.*" stands for every check of a source
	Aliases     []string
	Hooks       []Hook
	Transformer bool // rewrites and never denies
	Params      []Param
	// Open takes parameters that are not listed, too: those of external services,
	// which change without us.
	Open bool
}

// Param is a parameter of a check.
type Param struct {
	Name     string
	Required bool
	URL      bool // an address that the check calls
	form     paramType
}

// Find returns a check by id or alias, as the shorthand of configs has it too: a
// name without a source is one of the built-in ones. The result is shared and must
// not be changed.
func Find(id string) (*Known, bool) {
	if id != "" && !strings.Contains(id, ".") {
		id = builtin + id
	}
	for i := range known {
		if k := &known[i]; k.ID == id || slices.Contains(k.Aliases, id) || k.covers(id) {
			return k, true
		}
	}
	return nil, false
}

// covers reports whether the check stands for a whole source, and id is of it.
func (k *Known) covers(id string) bool {
	source, all := strings.CutSuffix(k.ID, "*")
	return all && len(id) > len(source) && strings.HasPrefix(id, source)
}

// All lists the checks in the order of the table. The slice is the caller's.
func All() []Known { return slices.Clone(known) }

const builtin = "default."

// known is every check of the contract, its parameters with their forms.
// Source: contract/content-and-observability.yaml, guardrail_checks;
// contract/dataplane.md 5.6 to 5.8.
var known = slices.Concat(builtins(), hosted(), partners())

var (
	inputHooks  = []Hook{Input}
	outputHooks = []Hook{Output}
	bothHooks   = []Hook{Input, Output}
	not         = may("not", boolean)
	timeout     = may("timeout", positiveInteger(300_000)) // ms
)

// must is a parameter that a check cannot do without, may one that it can.
func must(name string, f paramType) Param { return Param{Name: name, Required: true, form: f} }
func may(name string, f paramType) Param  { return Param{Name: name, form: f} }

// calls marks a parameter as an address that the check calls.
func calls(p Param) Param { p.URL = true; return p }

// anywhere are parameters that every check takes.
var anywhere = []Param{may("failOnError", boolean)}

// external are parameters that every check of an external service takes.
var external = []Param{timeout, may("credentials", object), may("forwardHeaders", forwarded)}
