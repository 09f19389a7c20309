package guardrail

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/domain/guardrail/param"
	"sluice/internal/kernel/fault"
)

// Phase is the side of a call on which a check runs.
type Phase string

// The phases.
const (
	Input  Phase = "input"  // on the request, before a provider receives it
	Output Phase = "output" // on the response, before the client receives it
)

// Definition describes a check that guardrails may name.
type Definition struct {
	ID          string   // "default.wordCount"
	Aliases     []string // other spellings: "default.modelwhitelist"
	Phases      []Phase
	Transformer bool // rewrites content and never denies
	Params      []param.Param
	// Open accepts parameters that are not listed: those of external services, which may add some.
	Open bool
	// Experimental marks a check, or a part of one, whose measured precision is below 80 %.
	Experimental bool
	// Paid reports whether each run costs money: it calls a model or a service.
	Paid bool
	// Addresses returns the addresses that the check builds from parameters that are not URLs
	// themselves, such as the name of a host. Nil for a check that builds none.
	Addresses func(values map[string]any) []Address
	// Verify returns a problem that the forms of the parameters cannot show, such as the same entry in
	// an allow list and a block list; nil for none. A nil function accepts everything.
	Verify func(values map[string]any) error
	// Unavailable is the reason why the check cannot run, for services whose interface is not public. Saving a
	// guardrail that names it is rejected with this text. Empty for all others.
	Unavailable string
}

// Runs reports whether the check may run in a phase.
func (d *Definition) Runs(p Phase) bool { return slices.Contains(d.Phases, p) }

// Table lists the checks of the program. It is immutable and safe for concurrent use.
type Table struct {
	list []Definition
	ids  map[string]int // ids and aliases, to positions in list
}

// NewTable returns a table of these checks, in this order. It panics if two have the same id.
func NewTable(list []Definition) *Table {
	t := &Table{list: list, ids: make(map[string]int)}
	for i := range list {
		for _, id := range append(slices.Clone(list[i].Aliases), list[i].ID) {
			if _, taken := t.ids[id]; taken {
				panic("guardrail: two checks are called " + id)
			}
			t.ids[id] = i
		}
	}
	return t
}

// Sources that a check id without one belongs to, in the order in which they are tried.
const (
	builtinSource = "default."
	gatewaySource = "gateway."
)

// Find returns a check by its id or an alias. A name without a source is one of the built-in checks
// (default.), or else one of the checks that use models of the program (gateway.). An alias such as
// "zscaler.*" stands for all names of a source. The result is shared and must not be changed.
func (t *Table) Find(id string) (*Definition, bool) {
	name := strings.TrimPrefix(id, builtinSource)
	for _, id := range [...]string{id, builtinSource + name, gatewaySource + name} {
		if i, ok := t.ids[id]; ok {
			return &t.list[i], true
		}
	}
	if source, _, found := strings.Cut(id, "."); found {
		if i, ok := t.ids[source+".*"]; ok {
			return &t.list[i], true
		}
	}
	return nil, false
}

// All returns the checks in the order of the table; none for a nil table. The caller owns the slice.
func (t *Table) All() []Definition {
	if t == nil {
		return nil
	}
	return slices.Clone(t.list)
}

// Read decodes a JSON list of checks and compares each with the table: the check must exist, its
// required parameters must be present, and each parameter must be known and valid. Errors are
// fault.InvalidParameter and name the place, for example "checks[1].parameters.rule". Read does not
// decide whether the URLs may be called; URLs lists them.
func (t *Table) Read(list []byte) ([]Check, error) {
	var checks []Check
	if err := json.Unmarshal(list, &checks); err != nil {
		return nil, fault.New(fault.InvalidParameter, "must be a list of checks").WithParam("checks").WithCause(err)
	}
	if len(checks) == 0 || len(checks) > MaxChecks {
		return nil, fault.Newf(fault.InvalidParameter, "must have 1 to %d checks", MaxChecks).WithParam("checks")
	}
	for i := range checks {
		path := fmt.Sprintf("checks[%d]", i)
		if err := t.Validate(&checks[i], Place{ID: path + ".id", Name: path + ".name", Params: path + ".parameters"}); err != nil {
			return nil, err
		}
	}
	return checks, nil
}

// Place contains the paths of the parts of a check in a document, for errors: {"checks[0].id",
// "checks[0].name", "checks[0].parameters"}. Checks of configs have no name.
type Place struct{ ID, Name, Params string }

// Validate compares one check with the table.
func (t *Table) Validate(c *Check, at Place) error {
	known, ok := t.Find(c.ID)
	switch {
	case !ok:
		return fault.New(fault.InvalidParameter, "unknown check; write source.check, for example default.wordCount").WithParam(at.ID)
	case known.Unavailable != "":
		return fault.Newf(fault.InvalidParameter, "%s cannot run: %s", known.ID, known.Unavailable).WithParam(at.ID)
	case len(c.Name) > maxCheckName:
		return fault.Newf(fault.InvalidParameter, "must not exceed %d characters", maxCheckName).WithParam(at.Name)
	case len(c.Parameters) > MaxParametersBytes:
		return fault.Newf(fault.InvalidParameter, "must not exceed %d bytes", MaxParametersBytes).WithParam(at.Params)
	}
	params, err := c.parameters()
	if err != nil {
		return fault.New(fault.InvalidParameter, "must be an object").WithParam(at.Params).WithCause(err)
	}
	if p := param.Check(known.Params, params, known.Open); p != nil {
		return fault.New(fault.InvalidParameter, p.Text).WithParam(at.Params + p.Path)
	}
	if known.Verify != nil {
		if err := known.Verify(params); err != nil {
			return verifyFault(err, at)
		}
	}
	return nil
}

// verifyFault returns the error of Definition.Verify with the place of the check. A fault names a
// parameter relative to the parameters: ".maxWords".
func verifyFault(err error, at Place) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return fault.New(fault.InvalidParameter, err.Error()).WithParam(at.Params)
	}
	return fault.New(fault.InvalidParameter, f.Text()).WithParam(at.Params + paramPath(f.Param))
}

// paramPath returns the path of a parameter below the parameters: "rule" becomes ".rule".
func paramPath(name string) string {
	name = strings.TrimPrefix(name, "parameters")
	if name == "" || name[0] == '.' || name[0] == '[' {
		return name
	}
	return "." + name
}

// ValidateUse validates a check of a config, which names the phase in which it runs.
func (t *Table) ValidateUse(c *Check, p Phase, at Place) error {
	if err := t.Validate(c, at); err != nil {
		return err
	}
	if known, _ := t.Find(c.ID); !known.Runs(p) {
		return fault.Newf(fault.InvalidParameter, "%s does not run on the %s of a call; attach it to the other side", known.ID, p).WithParam(at.ID)
	}
	return nil
}

// Address is an address that a check calls.
type Address struct {
	Path string // of the parameter, below the parameters: "webhookURL", "credentials.baseUrl"
	URL  string
}

// CheckURLs rejects a check that calls an address that allowed rejects. The error names the field below
// the path of the parameters.
func (t *Table) CheckURLs(c *Check, params string, allowed func(url string) error) error {
	for _, a := range t.URLs(c) {
		if err := allowed(a.URL); err != nil {
			return fault.From(err).WithParam(params + "." + a.Path)
		}
	}
	return nil
}

// URLs returns the addresses that a check calls, in the order of its parameters. Validate has accepted
// the check.
func (t *Table) URLs(c *Check) []Address {
	known, ok := t.Find(c.ID)
	params, err := c.parameters()
	if !ok || err != nil {
		return nil
	}
	var list []Address
	param.URLs(known.Params, params, func(path, url string) { list = append(list, Address{path, url}) })
	if known.Addresses != nil {
		list = append(list, known.Addresses(params)...)
	}
	return list
}
