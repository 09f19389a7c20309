package prompt

import (
	"slices"

	"sluice/internal/kernel/fault"
)

// Source finds saved partials.
type Source interface {
	// Partial returns the template that a tag names. A partial or version that does not exist is
	// fault.InvalidParameter.
	Partial(ref PartialRef) (*Template, error)
}

// SourceFunc adapts a function to a Source.
type SourceFunc func(ref PartialRef) (*Template, error)

// Partial calls the function.
func (f SourceFunc) Partial(ref PartialRef) (*Template, error) { return f(ref) }

// renderer renders one template. All templates that take part share its limits on output and
// steps, so that no input costs more than the limits allow.
type renderer struct {
	source Source
	out    writer
	scopes []*value // outermost first
	steps  int

	open             []any                    // templates being rendered: saved partials as *Template, private ones as *value
	saved            map[PartialRef]*Template // saved partials found so far
	privateTemplates map[*value]*Template     // parsed long private partials, by the variable they come from
}

func newRenderer(vars *value, source Source) *renderer {
	return &renderer{source: source, scopes: []*value{vars}}
}

// Render fills in the template. Variables must be a valid JSON object; nil means none. Exceeding
// a limit, an unknown partial and a partial that includes itself are fault.InvalidParameter.
// Source may be nil when the template names no saved partial.
func (t *Template) Render(variables []byte, source Source) (string, error) {
	vars, err := variablesOf(variables)
	if err != nil {
		return "", err
	}
	r := newRenderer(vars, source)
	if err := r.nodes(t.nodes); err != nil {
		return "", err
	}
	return string(r.out.b), nil
}

func (r *renderer) step() error {
	if r.steps++; r.steps > MaxSteps {
		return invalid("rendering the prompt takes more than %d steps; use shorter lists", MaxSteps).WithParam("variables")
	}
	return nil
}

func (r *renderer) nodes(list []node) error {
	for i := range list {
		if err := r.node(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) node(n *node) error {
	if err := r.step(); err != nil {
		return err
	}
	switch n.kind {
	case literal:
		return r.out.literal(n.text)
	case variable:
		return r.out.value(r.find(&n.name).text(), n.plain)
	case section:
		return r.section(n)
	case inverted:
		if !r.find(&n.name).holds() {
			return r.nodes(n.inner)
		}
	case partial:
		return r.partial(n.ref)
	case private:
		return r.private(n)
	}
	return nil
}

// section renders its content once for each element of a list, and once for any other truthy
// value. The element or value is the innermost scope meanwhile.
func (r *renderer) section(n *node) error {
	v := r.find(&n.name)
	if !v.holds() {
		return nil
	}
	if !v.is('[') {
		return r.renderIn(v, n.inner)
	}
	for _, e := range v.list() {
		if err := r.step(); err != nil {
			return err
		}
		if err := r.renderIn(e, n.inner); err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) renderIn(v *value, inner []node) error {
	r.scopes = append(r.scopes, v)
	err := r.nodes(inner)
	r.scopes = r.scopes[:len(r.scopes)-1]
	return err
}

// scopesOfStep is the number of scopes that may be searched for the price of one step.
// Handwritten templates have fewer; partials within partials can have hundreds.
const scopesOfStep = 8

// find returns the value of a name, searching from the innermost scope outward; nil when there
// is none. A field whose name contains dots takes precedence over a path.
func (r *renderer) find(n *name) *value {
	if n.full == "." {
		return r.scopes[len(r.scopes)-1]
	}
	r.steps += len(r.scopes) / scopesOfStep
	for _, scope := range slices.Backward(r.scopes) {
		if v := scope.member(n.full); v != nil {
			return v
		}
		if n.parts == nil {
			continue
		}
		if v := scope.member(n.parts[0]); v != nil {
			return v.path(n.parts[1:])
		}
	}
	return nil
}

func (v *value) path(parts []string) *value {
	for _, p := range parts {
		if v = v.member(p); v == nil {
			return nil
		}
	}
	return v
}

// partial inserts a saved partial.
func (r *renderer) partial(ref PartialRef) error {
	t := r.saved[ref]
	if t == nil {
		if r.source == nil {
			return UnknownPartial(ref)
		}
		var err error
		if t, err = r.source.Partial(ref); err != nil {
			return err
		}
		if r.saved == nil {
			r.saved = make(map[PartialRef]*Template)
		}
		r.saved[ref] = t
	}
	return r.include(ref.String(), t, t)
}

// private inserts a partial that the caller passes as a variable. Its text is a template, filled
// in with the same variables.
func (r *renderer) private(n *node) error {
	v := r.find(&n.name)
	if v == nil {
		return nil
	}
	t, err := r.templateOf(v)
	if err != nil {
		return fault.From(err).WithParam("variables." + n.name.full)
	}
	if len(t.nodes) == 0 {
		return nil
	}
	return r.include(">"+n.name.full, v, t)
}

// minCachedBytes is the length from which a parsed private partial is cached. Caching the short
// ones of a long list would take many times the memory of the list.
const minCachedBytes = 256

// templateOf parses the text of a variable as a template. The cache key is the variable and not
// its text, because the text may be long and may be used in a section over a long list.
func (r *renderer) templateOf(v *value) (*Template, error) {
	if t := r.privateTemplates[v]; t != nil {
		return t, nil
	}
	t, err := Parse(v.text())
	if err != nil || len(v.raw) < minCachedBytes {
		return t, err
	}
	if r.privateTemplates == nil {
		r.privateTemplates = make(map[*value]*Template)
	}
	r.privateTemplates[v] = t
	return t, nil
}

// include renders a template; name is the one in its tag. Key identifies the template: rendering
// it within itself is an error.
func (r *renderer) include(name string, key any, t *Template) error {
	if slices.Contains(r.open, key) {
		return invalid("the partial {{>%s}} includes itself", clip(name))
	}
	if len(r.open) == MaxPartialDepth {
		return invalid("partials are nested deeper than %d levels, at {{>%s}}", MaxPartialDepth, clip(name))
	}
	r.open = append(r.open, key)
	was := r.out.beginPartial()
	err := r.nodes(t.nodes)
	r.out.endPartial(was)
	r.open = r.open[:len(r.open)-1]
	return err
}

// UnknownPartial returns the error for a tag that names a partial the workspace does not have.
func UnknownPartial(ref PartialRef) error {
	return invalid("the workspace does not have the partial {{>%s}}", clip(ref.String())).WithParam("string")
}
