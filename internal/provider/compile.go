package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/wire"
)

// shape is a spec with one of its variants laid over it, ready for planning.
type shape struct {
	when      []Cond
	auth      *Auth
	model     *ModelRule
	modelFrom string
	endpoints map[llm.Endpoint]*Endpoint
	defaults  wire.Header // headers that need no value
}

// pair is a named template: a query parameter.
type pair struct {
	name     string
	value    template
	required string // field that must have a value
}

// route is the address of an endpoint, taken apart.
type route struct {
	base   template
	path   template
	stream template // empty: path
	query  []pair
	named  bool   // a field of class url stands in the base
	at     base   // the base when it has no placeholders
	fixed  bool   // and the path has none either
	target string // when fixed: both paths
}

// compile checks a decoded spec and prepares its shapes.
func (s *Spec) compile() error {
	if err := s.check(); err != nil {
		return err
	}
	if err := s.compileFields(); err != nil {
		return err
	}
	for i := range s.Variants {
		sh, err := s.shape(&s.Variants[i])
		if err != nil {
			return fmt.Errorf("variant %d: %w", i, err)
		}
		s.shapes = append(s.shapes, sh)
	}
	sh, err := s.shape(&Variant{})
	s.shapes = append(s.shapes, sh)
	s.requireUnused()
	return err
}

func (s *Spec) check() error {
	switch {
	case s.ID == "" || s.Name == "":
		return errors.New("id and name are needed")
	case !dated(s.Source):
		return errors.New("source is needed, with a date such as 2026-11-20")
	case s.Dialect == "":
		return errors.New("dialect is needed")
	case s.BaseURL == "":
		return errors.New("base_url is needed")
	case !slices.Contains([]string{"header", "query", "none", "aws", "azure", "gcp", "oci"}, s.Auth.Scheme):
		return fmt.Errorf("auth scheme %q is not known", s.Auth.Scheme)
	case !slices.Contains([]string{"sse", "sse-crlf", "sse-lf", "json-array", "ndjson", "aws-eventstream", "text", "none"}, s.Stream.Framing):
		return fmt.Errorf("stream framing %q is not known", s.Stream.Framing)
	}
	return nil
}

// dated reports whether s ends in a date: "contract/providers.yaml, 2026-11-20".
func dated(s string) bool {
	i := len(s) - len("2026-11-20")
	if i <= 0 {
		return false
	}
	for j, c := range []byte(s[i:]) {
		if dash := j == 4 || j == 7; dash && c != '-' || !dash && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func (s *Spec) compileFields() error {
	s.fields = map[string]int{"api_key": -1}
	for i := range s.Fields {
		f := &s.Fields[i]
		if _, ok := classes[class(f.Class)]; !ok {
			return fmt.Errorf("field %s: class %q is not known", f.Name, f.Class)
		}
		if f.Headers == nil && f.Name != Key {
			f.Headers = []string{"x-gateway-" + strings.ReplaceAll(f.Name, "_", "-")}
		}
		if f.Upstream != "" {
			s.up = append(s.up, i)
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if _, taken := s.fields[name]; taken || reserved(name) {
				return fmt.Errorf("field name %q is taken", name)
			}
			s.fields[name] = i
		}
	}
	delete(s.fields, "api_key")
	if i, ok := s.fields[Key]; ok {
		s.fields["api_key"] = i
	}
	return nil
}

// reserved reports whether a name means something else in templates.
func reserved(name string) bool {
	switch name {
	case argModel, argID, argRest, argUser, argDeployment, customHost, customHeaders, "path":
		return true
	}
	return false
}

// shape lays a variant over the spec; the zero variant gives the spec itself.
func (s *Spec) shape(v *Variant) (shape, error) {
	sh := shape{when: v.When, auth: &s.Auth, model: &s.Model, modelFrom: v.ModelFrom, endpoints: map[llm.Endpoint]*Endpoint{}}
	if v.Auth != nil {
		sh.auth = v.Auth
	}
	if v.Model != nil {
		sh.model = v.Model
	}
	if err := sh.setDefaults(s.Headers); err != nil {
		return sh, err
	}
	query := s.Query
	if v.Query != nil {
		query = v.Query
	}
	bases := overlay(s.Bases, v.Bases)
	bases[""] = cmp.Or(v.BaseURL, s.BaseURL)
	names := known()
	all := overlay(s.Endpoints, v.Endpoints)
	if all[llm.Proxy] == nil {
		all[llm.Proxy] = &Endpoint{Path: "{rest}"}
	}
	for name, e := range all {
		if !names[name] {
			return sh, fmt.Errorf("endpoint %q is not known", name)
		}
		c := *e
		c.Dialect = cmp.Or(c.Dialect, v.Dialect, s.Dialect)
		if name == llm.Proxy {
			c.Dialect = Through
		}
		c.Error = cmp.Or(c.Error, s.Error)
		r, err := s.route(&c, bases, query)
		if err != nil {
			return sh, fmt.Errorf("endpoint %s: %w", name, err)
		}
		c.route = r
		sh.endpoints[name] = &c
	}
	return sh, nil
}

func (sh *shape) setDefaults(headers map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if name != strings.ToLower(name) || !wire.ValidName(name) || !wire.ValidValue(headers[name]) {
			return fmt.Errorf("header %q is not one in lower case", name)
		}
		sh.defaults.Add(name, headers[name])
	}
	return nil
}

func (s *Spec) route(e *Endpoint, bases map[string]string, query map[string]string) (*route, error) {
	from, ok := bases[e.Base]
	if !ok {
		return nil, fmt.Errorf("base %q is not declared", e.Base)
	}
	r := &route{}
	var err error
	if r.base, err = s.template(from); err != nil {
		return nil, err
	}
	if r.path, err = s.template(e.Path); err != nil {
		return nil, err
	}
	if r.stream, err = s.template(e.Stream); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(e.Path, "/") && !strings.HasPrefix(e.Path, "{rest}") {
		return nil, fmt.Errorf("path %q does not begin with a slash", e.Path)
	}
	if r.query, err = s.params(overlay(query, e.Query)); err != nil {
		return nil, err
	}
	return r, s.checkHost(r)
}

// params compiles query parameters, sorted by name.
func (s *Spec) params(params map[string]string) ([]pair, error) {
	var ps []pair
	for _, name := range slices.Sorted(maps.Keys(params)) {
		t, err := s.template(params[name])
		if err != nil {
			return nil, err
		}
		p := pair{name: name, value: t}
		if len(t) == 1 && t[0].name != "" {
			if i, ok := s.fields[t[0].name]; ok && s.Fields[i].Required {
				p.required = t[0].name
			}
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// checkHost makes sure that what callers can put into the host has a strict class,
// and works out the address when nothing has to be put in.
func (s *Spec) checkHost(r *route) error {
	text := "" // so far
	for _, p := range r.base {
		text += p.text
		if p.name == "" || p.name == customHost {
			continue
		}
		c := s.classOf(p.name)
		switch _, rest, inHost := strings.Cut(text, "://"); {
		case c == classURL && text == "":
			r.named = true
		case inHost && !strings.Contains(rest, "/") && !c.host():
			return fmt.Errorf("field %s stands in a host without a strict class", p.name)
		case c != classSegment && !c.host():
			return fmt.Errorf("field %s stands in a base without a strict class", p.name)
		}
	}
	text, static := r.base.static()
	if !static {
		return nil
	}
	at, ok := parseBase(text)
	if !ok || at.scheme != "https" {
		return fmt.Errorf("base %q is not an https URL", text)
	}
	r.at = at
	path, fixed := r.path.static()
	r.fixed = fixed && len(r.stream) == 0 && len(r.query) == 0
	r.target = at.path + path
	return nil
}

func (s *Spec) classOf(name string) class {
	if i, ok := s.fields[name]; ok {
		return class(s.Fields[i].Class)
	}
	return classAny
}

// template parses a template and checks that every placeholder is declared.
func (s *Spec) template(text string) (template, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return nil, err
	}
	for _, p := range t {
		switch p.name {
		case "", argModel, argID, argRest, argUser, argDeployment, customHost:
			continue
		}
		if i, ok := s.fields[p.name]; !ok || s.Fields[i].Name != p.name {
			return nil, fmt.Errorf("placeholder {%s} is not declared", p.name)
		}
	}
	return t, nil
}

// requireUnused lists the required fields that no address needs: the others are
// asked for where an address is put together, and only there.
func (s *Spec) requireUnused() {
	used := map[string]bool{}
	for _, sh := range s.shapes {
		for _, e := range sh.endpoints {
			for _, t := range append(pairValues(e.route.query), e.route.base, e.route.path, e.route.stream) {
				for _, p := range t {
					used[p.name] = true
				}
			}
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if (f.Required || len(f.RequiredIf) > 0) && f.Default == "" && !used[f.Name] {
			s.must = append(s.must, i)
		}
	}
}

func pairValues(ps []pair) []template {
	ts := make([]template, 0, len(ps)+3)
	for _, p := range ps {
		ts = append(ts, p.value)
	}
	return ts
}

// overlay is a fresh map of a with b over it.
func overlay[K comparable, V any](a, b map[K]V) map[K]V {
	out := make(map[K]V, len(a)+len(b)+1)
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
