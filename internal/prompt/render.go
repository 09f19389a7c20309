package prompt

import (
	"slices"

	"sluice/internal/fault"
)

// Source finds saved partials.
type Source interface {
	// Partial returns the template that a tag means: fault.InvalidParameter when
	// there is no such partial or version.
	Partial(ref PartialRef) (*Template, error)
}

// SourceFunc is a Source made of a function.
type SourceFunc func(ref PartialRef) (*Template, error)

// Partial calls the function.
func (f SourceFunc) Partial(ref PartialRef) (*Template, error) { return f(ref) }

// renderer is one rendering. Its budget of output and steps is shared by all templates
// that take part, so that no input makes it cost more than the limits allow.
type renderer struct {
	source Source
	out    writer
	scopes []*value // the outermost first
	steps  int

	open             []any                    // what is being rendered: saved partials as *Template, private ones as *value
	saved            map[PartialRef]*Template // found by now
	privateTemplates map[*value]*Template     // long private ones, by the variables that they are
}

func newRenderer(vars *value, source Source) *renderer {
	return &renderer{source: source, scopes: []*value{vars}}
}

// Render fills a template in. Variables are a JSON object, nil for none, valid JSON in
// any case. What goes past a limit, an unknown partial and one that includes itself are
// fault.InvalidParameter. Source may be nil when the template names no partial.
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

// section shows its inside once for each element of a list, and once for any other
// value that holds. The element, or the value, is the innermost scope meanwhile.
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

// scopesOfStep is how many scopes are looked through at the price of a step. Templates that
// people write have fewer; partials in partials can have hundreds.
const scopesOfStep = 8

// find looks a name up, from the innermost scope outward; nil when there is none. A
// field whose own name has dots comes before a path.
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

// private inserts a partial that the caller brings as a variable: its text is a
// template, filled in with the same variables.
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

// minCachedBytes is from how many bytes on a private partial is kept once it is parsed: to keep the
// short ones of a long list takes many times the list.
const minCachedBytes = 256

// templateOf is the text of a variable as a template. It is looked for by the variable,
// because the text may be long and the section around it that of a long list.
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

// include inserts a template, which has the name in its tag. What it is of may not be
// around it already.
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

// UnknownPartial is what is said of a tag that names no partial of the workspace.
func UnknownPartial(ref PartialRef) error {
	return invalid("the workspace does not have the partial {{>%s}}", clip(ref.String())).WithParam("string")
}
