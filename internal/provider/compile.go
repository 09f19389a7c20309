package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// shape is a spec with one of its variants merged into it, ready for planning.
type shape struct {
	when      []Cond
	auth      *Auth
	model     *ModelRule
	modelFrom string
	endpoints map[llm.Endpoint]*Endpoint
	defaults  wire.Header // headers that do not depend on a value
}

// compile checks a decoded spec and prepares its shapes.
func (s *Spec) compile() error {
	if err := s.check(); err != nil {
		return err
	}
	if err := s.compileFields(); err != nil {
		return err
	}
	if err := s.compileDerived(); err != nil {
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
	if err != nil {
		return err
	}
	s.shapes = append(s.shapes, sh)
	s.requireUnused()
	s.paths = slices.ContainsFunc(s.shapes, shape.takesModel)
	return nil
}

// ModelsInPaths reports whether a path of the provider's own API contains the model, so that a
// pass-through path may name any model.
func (s *Spec) ModelsInPaths() bool { return s.paths }

// Deploys reports whether the administrator who saves the provider names deployments. The
// provider's list of models then does not show which deployments exist.
func (s *Spec) Deploys() bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return strings.Contains(f.Name, "_deployment_") })
}

func (s *Spec) check() error {
	switch {
	case s.ID == "" || s.Name == "":
		return errors.New("id and name are required")
	case !dated(s.Source):
		return errors.New("source is required, with a date such as 2026-11-20")
	case s.Dialect == "":
		return errors.New("dialect is required")
	case s.BaseURL == "":
		return errors.New("base_url is required")
	case !slices.Contains([]string{"header", "query", "none", "aws", "azure", "gcp", "oci"}, s.Auth.Scheme):
		return fmt.Errorf("unknown auth scheme %q", s.Auth.Scheme)
	case s.Auth.Token != nil && (s.Auth.Scheme != "header" || s.Auth.Token.Prefix == "" || s.Auth.Token.Header == "" || !strings.Contains(s.Auth.Token.Format, "{key}")):
		return errors.New("auth token requires scheme header, a prefix, a header and a format with {key}")
	case !slices.Contains([]string{"sse", "sse-crlf", "sse-lf", "json-array", "ndjson", "aws-eventstream", "text", "none"}, s.Stream.Framing):
		return fmt.Errorf("unknown stream framing %q", s.Stream.Framing)
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
			return fmt.Errorf("field %s: unknown class %q", f.Name, f.Class)
		}
		if f.Headers == nil && f.Name != Key {
			f.Headers = []string{"x-gateway-" + strings.ReplaceAll(f.Name, "_", "-")}
		}
		if f.Upstream != "" {
			s.up = append(s.up, i)
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if _, taken := s.fields[name]; taken || reserved(name) {
				return fmt.Errorf("field name %q is already used", name)
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

// reserved reports whether a name has another meaning in templates.
func reserved(name string) bool {
	switch name {
	case argModel, argID, argRest, argUser, argDeployment, customHost, customHeaders, "path":
		return true
	}
	return false
}

// shape merges a variant into the spec. The zero variant returns the spec unchanged.
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
			return sh, fmt.Errorf("unknown endpoint %q", name)
		}
		c := *e
		c.Dialect = cmp.Or(c.Dialect, v.Dialect, s.Dialect)
		if name == llm.Proxy {
			c.Dialect = Through
		}
		c.Error = cmp.Or(c.Error, s.Error)
		if !slices.Contains([]string{"", "content", "reasoning_content", "reasoning_details"}, c.Params.ReasoningField) {
			return sh, fmt.Errorf("endpoint %s: unknown params.thoughts value %q", name, c.Params.ReasoningField)
		}
		if c.Params.CallIDs < 0 || c.Params.CallIDs > 32 {
			return sh, fmt.Errorf("endpoint %s: call_ids is %d, but must be between 0 and 32", name, c.Params.CallIDs)
		}
		for _, field := range c.Without {
			if _, ok := s.fields[field]; !ok {
				return sh, fmt.Errorf("endpoint %s: unknown field %q in without", name, field)
			}
		}
		r, err := s.route(&c, bases, query)
		if err != nil {
			return sh, fmt.Errorf("endpoint %s: %w", name, err)
		}
		if c.route = r; c.Service != "" {
			auth := *sh.auth
			auth.Service = c.Service
			c.auth = &auth
		}
		sh.endpoints[name] = &c
	}
	return sh, nil
}

// takesModel reports whether an address of the shape contains the model.
func (sh shape) takesModel() bool {
	for _, e := range sh.endpoints {
		for _, t := range [...]template{e.route.base, e.route.path, e.route.stream} {
			if slices.ContainsFunc(t, func(p part) bool { return p.name == argModel || p.name == argDeployment }) {
				return true
			}
		}
	}
	return false
}

func (sh *shape) setDefaults(headers map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if name != strings.ToLower(name) || !wire.ValidName(name) || !wire.ValidValue(headers[name]) {
			return fmt.Errorf("header %q must be lower case", name)
		}
		sh.defaults.Add(name, headers[name])
	}
	return nil
}

// overlay returns a new map with the entries of a and b. Entries of b take precedence.
func overlay[K comparable, V any](a, b map[K]V) map[K]V {
	out := make(map[K]V, len(a)+len(b)+1)
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
