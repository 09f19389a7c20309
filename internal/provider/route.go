package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pair is a named template for a query parameter.
type pair struct {
	name     string
	value    template
	required string // field that must have a value
}

// route is the parsed address of an endpoint.
type route struct {
	base        template
	path        template
	stream      template // empty: path
	query       []pair
	streamQuery []pair // of streams
	named       string // the field of class url in the base; empty: none
	fixedBase   base   // the base when it has no placeholders
	fixed       bool   // the base and the path have no placeholders
	target      string // when fixed: both paths
}

// route parses and checks the address of an endpoint.
func (s *Spec) route(e *Endpoint, bases map[string]string, query map[string]string) (*route, error) {
	from, ok := bases[e.Base]
	if !ok {
		return nil, fmt.Errorf("unknown base %q", e.Base)
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
		return nil, fmt.Errorf("path %q must begin with a slash", e.Path)
	}
	if r.query, err = s.params(overlay(query, e.Query)); err != nil {
		return nil, err
	}
	if r.streamQuery, err = s.params(e.StreamQuery); err != nil {
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

// checkHost checks that each caller-defined part of the host has a strict class. It computes
// the address when it has no placeholders.
func (s *Spec) checkHost(r *route) error {
	text := "" // text so far
	for _, p := range r.base {
		text += p.text
		if p.name == "" || p.name == customHost {
			continue
		}
		c := s.classOf(p.name)
		switch _, rest, inHost := strings.Cut(text, "://"); {
		case s.Derived[p.name] != nil:
			if inHost && !strings.Contains(rest, "/") && !s.Derived[p.name].host(s) {
				return fmt.Errorf("%s, which is derived, is part of a host without a strict class", p.name)
			}
		case c == classURL && text == "":
			r.named = p.name
		case inHost && !strings.Contains(rest, "/") && !c.host():
			return fmt.Errorf("field %s is part of a host without a strict class", p.name)
		case c != classSegment && !c.host():
			return fmt.Errorf("field %s is part of a base without a strict class", p.name)
		}
	}
	text, static := r.base.static()
	if !static {
		return nil
	}
	at, ok := parseBase(text)
	if !ok || at.scheme != "https" && !strings.HasPrefix(at.host, "localhost:") { // local servers do not have a certificate
		return fmt.Errorf("base %q must be an https URL", text)
	}
	r.fixedBase = at
	path, fixed := r.path.static()
	r.fixed = fixed && len(r.stream) == 0 && len(r.query) == 0 && len(r.streamQuery) == 0
	r.target = at.path + path
	return nil
}

// versionParam is the query parameter that Azure's clients send with every call.
const versionParam = "api-version"

// versioned returns a query without an API version that this route does not have. Azure's
// clients send a version to every server. A route whose version is not a date ("v1" or
// "preview") has it, if at all, in the path.
// Source: https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle, read 2026-11.
func (r *route) versioned(raw string) string {
	if !hasParam(raw, versionParam) {
		return raw
	}
	takes := slices.ContainsFunc(r.query, func(p pair) bool { return p.name == versionParam })
	pairs := slices.DeleteFunc(strings.Split(raw, "&"), func(p string) bool {
		name, value, _ := strings.Cut(p, "=")
		return name == versionParam && (!takes || value == "" || value[0] < '0' || value[0] > '9')
	})
	return strings.Join(pairs, "&")
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
		if s.Derived[p.name] != nil {
			continue
		}
		if i, ok := s.fields[p.name]; !ok || s.Fields[i].Name != p.name {
			return nil, fmt.Errorf("unknown placeholder {%s}", p.name)
		}
	}
	return t, nil
}

// requireUnused lists the required fields that no address needs. The other fields are checked
// only where an address is built from them.
func (s *Spec) requireUnused() {
	used := map[string]bool{}
	for _, sh := range s.shapes {
		for _, e := range sh.endpoints {
			for _, t := range append(pairValues(append(slices.Clone(e.route.query), e.route.streamQuery...)), e.route.base, e.route.path, e.route.stream) {
				for _, p := range t {
					used[p.name] = true
				}
			}
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if (f.Required || len(f.RequiredIf) > 0) && f.Default == "" && !used[f.Name] && (f.Name != fieldDeployment || !used[argDeployment]) {
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
