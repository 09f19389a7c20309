package partner

import (
	"fmt"
	"io/fs"
	"sync"

	"sluice/internal/domain/guardrail"
	"sluice/internal/gateway/guardrails/check"
)

// set is a compiled set of files. It is immutable.
type set struct {
	specs       []*compiledSpec
	unavailable []file
}

// embedded are the files of the program.
var embedded = sync.OnceValues(func() (*set, error) { return compileSet(specFiles) })

// state is what the checks of a list share. It is safe for concurrent use.
type state struct {
	breakers breakers
	tokens   tokenCache
}

// List returns the partner checks: those that can run, and those whose interface is not public, which
// have Unavailable set. The checks of a list share breakers, one for each address, and cached tokens:
// call List once for a process. The caller owns the slice. List panics if an embedded file is invalid,
// which the tests of this package exclude.
func List() []check.Check {
	s, err := embedded()
	if err != nil {
		panic("partner: " + err.Error())
	}
	return s.checks()
}

// compileSet compiles files. The error names the file or the check.
func compileSet(fsys fs.FS) (*set, error) {
	files, specs, err := load(fsys)
	if err != nil {
		return nil, err
	}
	s := &set{}
	for i := range specs {
		c, err := specs[i].compile()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", specs[i].name(), err)
		}
		s.specs = append(s.specs, c)
	}
	for i := range files {
		if files[i].Unavailable != "" {
			s.unavailable = append(s.unavailable, files[i])
		}
	}
	return s, nil
}

// checks returns the checks of the set with a state of their own.
func (s *set) checks() []check.Check {
	shared := &state{}
	var list []check.Check
	for _, c := range s.specs {
		list = append(list, check.Check{
			Definition: guardrail.Definition{
				ID: c.name(), Aliases: c.Aliases, Phases: c.Phases, Transformer: c.Transformer, Params: c.params, Addresses: c.addresses, Open: true, Paid: true,
			},
			New: func(p check.Params, d *check.Deps) (check.Runner, error) { return newRunner(c, shared, p, d), nil },
		})
	}
	for i := range s.unavailable {
		f := &s.unavailable[i]
		list = append(list, check.Check{Definition: guardrail.Definition{
			ID: f.Partner, Aliases: f.Aliases, Phases: []guardrail.Phase{guardrail.Input, guardrail.Output}, Open: true, Paid: true, Unavailable: f.Unavailable,
		}})
	}
	return list
}
