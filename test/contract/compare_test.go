package contract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"sluice/internal/kernel/llm"
)

// description is what is published.
type description struct {
	ops map[string]*openapi3.Operation
}

var (
	placeholder = regexp.MustCompile(`\{[^}]*\}`)
	version     = regexp.MustCompile(`^/v[12]/`)
)

// plain is a path without the version and the names of its placeholders.
func plain(path string) string {
	return placeholder.ReplaceAllString(version.ReplaceAllString(path, "/"), "{}")
}

func newDescription(doc *openapi3.T) *description {
	d := &description{map[string]*openapi3.Operation{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			d.ops[method+" "+plain(path)] = op
		}
	}
	return d
}

// compare says what of a promised operation is not described.
func (d *description) compare(o op) []string {
	name := o.method + " " + o.path
	got := d.ops[o.method+" "+plain(o.path)]
	if got == nil {
		if llm.Lookup(o.method, placeholder.ReplaceAllString(o.path, "x")).Endpoint == llm.RunPrompt {
			return nil // model traffic
		}
		return []string{name + ": there is no such operation"}
	}
	c := &comparison{path: name}
	c.query(o.query, got.Parameters)
	if o.body != nil {
		if got.RequestBody == nil {
			c.miss("body", "there is none")
		} else {
			c.request = true
			c.object("body", o.body, got.RequestBody.Value.Content.Get("application/json").Schema.Value, 0)
		}
	}
	if ok := got.Responses.Value("200"); o.response != nil && ok.Value.Content.Get("application/json") != nil {
		c.request = false
		c.object("answer", o.response, ok.Value.Content.Get("application/json").Schema.Value, 0)
	}
	return c.found
}

// comparison collects what is missing of one operation.
type comparison struct {
	path    string
	request bool // what clients send is looked at, not what they get
	found   []string
}

func (c *comparison) miss(where, format string, args ...any) {
	c.found = append(c.found, c.path+": "+where+": "+fmt.Sprintf(format, args...))
}

func (c *comparison) query(want []field, got openapi3.Parameters) {
	c.request = true
	for _, p := range want {
		where := "query " + p.name
		param := got.GetByInAndName("query", p.name)
		if param == nil {
			c.miss(where, "missing")
			continue
		}
		if param.Required && !p.required {
			c.miss(where, "required here, and not in the contract")
		}
		c.value(where, p, param.Schema.Value, 0)
	}
	for _, p := range got {
		known := slices.ContainsFunc(want, func(f field) bool { return f.name == p.Value.Name })
		if p.Value.In == "query" && p.Value.Required && !known {
			c.miss("query "+p.Value.Name, "required here, and not in the contract")
		}
	}
}

const deepest = 6

func (c *comparison) object(where string, want *shape, got *openapi3.Schema, depth int) {
	if depth > deepest || open(got) {
		return
	}
	for _, f := range want.fields {
		if c.request && f.readOnly || !c.request && f.hidden {
			continue
		}
		at := where + " " + f.name
		s, required := property(got, f.name)
		if s == nil {
			c.miss(at, "missing")
			continue
		}
		if c.request && required && !f.required {
			c.miss(at, "required here, and not in the contract")
		}
		c.value(at, f, s, depth)
	}
}

// value compares one field or parameter.
func (c *comparison) value(at string, want field, got *openapi3.Schema, depth int) {
	types := typesOf(got)
	if len(want.types) > 0 && len(types) > 0 {
		for _, t := range less(want.types, types, c.request) {
			c.miss(at, "a value of type %s is not told (want %s, have %s)", t, strings.Join(want.types, "|"), strings.Join(types, "|"))
		}
	}
	if c.request && want.nullable && len(types) > 0 && !types.has("null") {
		c.miss(at, "null is refused")
	}
	c.enum(at, want, got)
	c.limits(at, want, got)
	if want.elem == nil {
		return
	}
	for _, s := range alternatives(got) {
		if s.Items != nil {
			c.object(at, want.elem, s.Items.Value, depth+1)
		} else if len(s.Properties) > 0 {
			c.object(at, want.elem, s, depth+1)
		}
	}
}

// enum: what clients may send must all be accepted, and they need not understand
// more than was promised.
func (c *comparison) enum(at string, want field, got *openapi3.Schema) {
	if len(want.enum) == 0 || slices.Contains(want.types, "array") {
		return
	}
	have := enumOf(got)
	for _, v := range want.enum {
		if c.request && len(have) > 0 && !slices.Contains(have, v) {
			c.miss(at, "the value %s is refused", v)
		}
	}
	for _, v := range have {
		if !c.request && !slices.Contains(want.enum, v) {
			c.miss(at, "the value %s was not promised", v)
		}
	}
}

// limits: nothing that the contract allows is refused by the description.
func (c *comparison) limits(at string, want field, got *openapi3.Schema) {
	if !c.request {
		return
	}
	have := limitsOf(got)
	for _, name := range slices.Sorted(maps.Keys(have)) {
		w, limited := want.limits[name]
		h := have[name]
		switch {
		case !limited:
		case strings.HasPrefix(name, "min") && h > w, strings.HasPrefix(name, "max") && h < w:
			c.miss(at, "%s is %v, and %v in the contract", name, h, w)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.limits)) {
		if _, has := have[name]; !has && !slices.Contains([]string{"minimum", "minLength", "minItems"}, name) {
			c.miss(at, "%s %v of the contract is not told", name, want.limits[name])
		}
	}
}

// less are the types that one side has and the other does not take.
func less(want []string, have types, request bool) []string {
	from, to := []string(have), types(want)
	if request {
		from, to = want, have
	}
	return slices.DeleteFunc(slices.Clone(from), func(t string) bool {
		return t == "null" || to.has(t) || t == "integer" && to.has("number")
	})
}

type types []string

func (t types) has(name string) bool { return slices.Contains(t, name) }

// alternatives are a schema and its alternatives.
func alternatives(s *openapi3.Schema) []*openapi3.Schema {
	out := []*openapi3.Schema{s}
	for _, refs := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, r := range refs {
			out = append(out, alternatives(r.Value)...)
		}
	}
	return out
}

func typesOf(s *openapi3.Schema) types {
	var out types
	for _, p := range alternatives(s) {
		if p.Type != nil {
			out = append(out, p.Type.Slice()...)
		}
	}
	return out
}

func property(s *openapi3.Schema, name string) (_ *openapi3.Schema, required bool) {
	for _, p := range alternatives(s) {
		if r := p.Properties[name]; r != nil {
			return r.Value, slices.Contains(p.Required, name)
		}
	}
	return nil, false
}

// open reports whether an object may hold any field.
func open(s *openapi3.Schema) bool {
	return len(s.Properties) == 0 && len(alternatives(s)) == 1 && len(s.Required) == 0 && !empty(s)
}

func empty(s *openapi3.Schema) bool {
	return s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has && s.AdditionalProperties.Schema == nil
}

func enumOf(s *openapi3.Schema) []string {
	var out []string
	for _, p := range alternatives(s) {
		for _, v := range p.Enum {
			if v != nil {
				out = append(out, fmt.Sprint(v))
			}
		}
	}
	return out
}

func limitsOf(s *openapi3.Schema) map[string]float64 {
	out := map[string]float64{}
	for _, p := range alternatives(s) {
		if p.Min != nil {
			out["minimum"] = *p.Min
		}
		if p.Max != nil {
			out["maximum"] = *p.Max
		}
		if p.MinLength > 0 {
			out["minLength"] = float64(p.MinLength)
		}
		if p.MaxLength != nil {
			out["maxLength"] = float64(*p.MaxLength)
		}
		if p.MinItems > 0 {
			out["minItems"] = float64(p.MinItems)
		}
		if p.MaxItems != nil {
			out["maxItems"] = float64(*p.MaxItems)
		}
	}
	return out
}
