package partner

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sluice/internal/domain/guardrail/param"
)

// paramSpec describes a parameter or a field of the credentials.
type paramSpec struct {
	Form     string   `json:"form"` // a key of forms, "list", "values", "value" or "fields"
	Required bool     `json:"required"`
	Max      float64  `json:"max"`
	Min      float64  `json:"min"`
	Values   []string `json:"values"` // of the forms "value" and "values"
	Default  any      `json:"default"`
	Secret   bool     `json:"secret"` // a credential: only header fields may contain it
	// Fields of the form "fields". It accepts further fields, because a partner may add some.
	Fields map[string]paramSpec `json:"fields"`
}

// defaultText is the maximum length of a text without "max".
const defaultText = 1024

// maxSecret is the maximum length of a credential; tokens of some partners have several kilobytes.
const maxSecret = 16 << 10

// forms are the forms of values that need no further member of paramSpec.
var forms = map[string]param.Form{
	"boolean":      param.Boolean,
	"text or list": param.TextListOrCSV,
	"object":       param.Object,
	"anything":     param.Anything,
	"link":         param.Link,
	"host":         param.Custom(hostName),
	"id":           param.TextOrNumber,
	"secret":       param.Custom(secret),
	"redaction":    param.Redaction,
}

// param returns the parameter with its form.
func (s *paramSpec) param(name string) (param.Param, error) {
	f, err := s.form()
	if err != nil {
		return param.Param{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.checkDefault(f); err != nil {
		return param.Param{}, fmt.Errorf("%s: %w", name, err)
	}
	p := param.Optional(name, f)
	p.Required = s.Required
	return p, nil
}

// form returns the form of the values.
func (s *paramSpec) form() (param.Form, error) {
	if f, ok := forms[s.Form]; ok {
		return f, nil
	}
	switch s.Form {
	case "text":
		if s.Max == 0 {
			return param.Text(defaultText), nil
		}
		return param.Text(int(s.Max)), nil
	case "number":
		return param.Number(s.Min, s.Max), nil
	case "integer":
		return param.PositiveInteger(s.Max), nil
	case "list":
		return param.TextList, nil
	case "value":
		return param.OneOf(s.Values...), nil
	case "values":
		return param.ListOf(s.Values...), nil
	case "fields":
		return fields(s.Fields)
	}
	return param.Form{}, fmt.Errorf("unknown form %q", s.Form)
}

// fields accepts an object with these fields and others.
func fields(list map[string]paramSpec) (param.Form, error) {
	var params []param.Param
	for _, name := range names(list) {
		s := list[name]
		p, err := s.param(name)
		if err != nil {
			return param.Form{}, err
		}
		params = append(params, p)
	}
	return param.OpenFields(params...), nil
}

// secret accepts a credential that a header field may contain.
func secret(v any) *param.Problem {
	s, ok := v.(string)
	if !ok || s == "" || len(s) > maxSecret || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return param.Wrong("must be a string without line breaks")
	}
	return nil
}

// hostName accepts a host name such as "guard.example.com", or the name of a resource that is a part
// of one, with an optional port.
func hostName(v any) *param.Problem {
	if s, ok := v.(string); !ok || len(s) > 253 || !hostForm.MatchString(s) {
		return param.Wrong("must be a host name such as guard.example.com")
	}
	return nil
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)

// params returns the parameters of the check, as a guardrail names them.
func (s *spec) params() ([]param.Param, error) {
	list := []param.Param{
		param.Timeout,
		param.Optional("forwardHeaders", param.ForwardHeaders),
		param.Optional("cost_per_call", param.Number(0, 1000)),
	}
	if len(s.Credentials) > 0 {
		f, err := fields(s.Credentials)
		if err != nil {
			return nil, fmt.Errorf("credentials: %w", err)
		}
		list = append(list, param.Optional("credentials", f))
	} else {
		list = append(list, param.Optional("credentials", param.Object))
	}
	for _, name := range names(s.Parameters) {
		p := s.Parameters[name]
		if p.Secret {
			return nil, errors.New("parameters." + name + ": only credentials may be secret")
		}
		compiled, err := p.param(name)
		if err != nil {
			return nil, fmt.Errorf("parameters: %w", err)
		}
		list = append(list, compiled)
	}
	return list, nil
}

// checkDefault compares the default with the form.
func (s *paramSpec) checkDefault(f param.Form) error {
	if list, isList := s.Default.([]any); s.Default == nil || isList && len(list) == 0 {
		return nil
	}
	if p := f.Check(s.Default); p != nil {
		return fmt.Errorf("default%s %s", p.Path, p.Text)
	}
	return nil
}

// withDefaults returns the values with the defaults of absent parameters and credentials. It does not
// change values.
func (s *spec) withDefaults(values map[string]any) map[string]any {
	out := merged(values, s.Parameters)
	creds, _ := values["credentials"].(map[string]any)
	out["credentials"] = merged(creds, s.Credentials)
	return out
}

func merged(values map[string]any, list map[string]paramSpec) map[string]any {
	out := make(map[string]any, len(values)+len(list))
	for name, s := range list {
		switch {
		case s.Default != nil:
			out[name] = s.Default
		case len(s.Fields) > 0:
			inner, _ := values[name].(map[string]any)
			if inner != nil {
				out[name] = merged(inner, s.Fields)
			}
		}
	}
	for name, v := range values {
		if _, nested := out[name].(map[string]any); nested && len(list[name].Fields) > 0 {
			continue
		}
		out[name] = v
	}
	return out
}

// missing returns the path of the first required credential without a value; empty for none.
func missing(values map[string]any, list map[string]paramSpec, path string) string {
	for _, name := range names(list) {
		s := list[name]
		v := values[name]
		if len(s.Fields) > 0 {
			inner, _ := v.(map[string]any)
			if inner == nil && !s.Required {
				continue
			}
			if p := missing(inner, s.Fields, path+"."+name); p != "" {
				return p
			}
			continue
		}
		if text, isText := v.(string); s.Required && (v == nil || isText && strings.TrimSpace(text) == "") {
			return path + "." + name
		}
	}
	return ""
}

// secrets returns the values that results must not contain.
func secrets(values map[string]any, list map[string]paramSpec) (out [][]byte) {
	for name, s := range list {
		if inner, ok := values[name].(map[string]any); ok {
			out = append(out, secrets(inner, s.Fields)...)
		}
		if v, ok := values[name].(string); ok && s.Secret && v != "" {
			out = append(out, []byte(v))
			if quoted, err := json.Marshal(v); err == nil && string(quoted[1:len(quoted)-1]) != v {
				out = append(out, quoted[1:len(quoted)-1])
			}
		}
	}
	return out
}
