package partner

import (
	"fmt"
	"sync"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// state is what the checks of a list share. It is safe for concurrent use.
type state struct {
	breakers breakers
	tokens   tokenCache
}

// embedded are the compiled files of the program.
var embedded = sync.OnceValues(func() ([]check.Check, error) {
	files, specs, err := load(specFiles)
	if err != nil {
		return nil, err
	}
	return checks(files, specs, &state{})
})

// List returns the partner checks: those that can run, and those whose interface is not public, which
// have Unavailable set. All share the breakers of the process, one for each address, and its cached tokens. The caller owns
// the slice. List panics if an embedded file is invalid, which the tests of this package exclude.
func List() []check.Check {
	list, err := embedded()
	if err != nil {
		panic("partner: " + err.Error())
	}
	return append([]check.Check(nil), list...)
}

// checks compiles the specs.
func checks(files []file, specs []spec, st *state) ([]check.Check, error) {
	var list []check.Check
	for i := range specs {
		c, err := specs[i].compile()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", specs[i].name(), err)
		}
		list = append(list, newCheck(c, st))
	}
	for i := range files {
		if f := &files[i]; f.Unavailable != "" {
			list = append(list, check.Check{Definition: guardrail.Definition{
				ID: f.Partner, Aliases: f.Aliases, Phases: []guardrail.Phase{guardrail.Input, guardrail.Output}, Open: true, Paid: true, Unavailable: f.Unavailable,
			}})
		}
	}
	return list, nil
}

func newCheck(c *compiledSpec, st *state) check.Check {
	d := guardrail.Definition{
		ID: c.name(), Aliases: c.Aliases, Phases: c.Phases, Transformer: c.Transformer, Params: c.params, Open: true, Paid: true,
	}
	return check.Check{
		Definition: d,
		New: func(p check.Params, deps *check.Deps) (check.Runner, error) {
			return newRunner(c, st, p, deps), nil
		},
	}
}
