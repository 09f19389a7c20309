package contract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// file is one part of the contract.
type file struct {
	Schemas map[string]map[string]any `yaml:"schemas"`
	Shared  map[string]any            `yaml:"shared_params"`
	Enums   map[string]any            `yaml:"enums"`
	Ops     []map[string]any          `yaml:"operations"`
}

func parse(t *testing.T, raw []byte) *file {
	t.Helper()
	f := &file{}
	if err := yaml.Unmarshal(raw, f); err != nil {
		t.Fatal(err)
	}
	return f
}

// field is a parameter, or a field of a body or an answer, in one notation for all
// parts of the contract.
type field struct {
	name     string
	types    []string // of JSON; none when the contract says none
	required bool
	nullable bool
	later    bool
	readOnly bool // in answers only
	hidden   bool // in bodies only
	enum     []string
	limits   map[string]float64 // by the name in JSON Schema: "maxLength"
	elem     *shape             // elem an object, or of the elements of an array
}

// shape is the fields of an object. A nil shape is one that the contract tells in
// prose, or that holds whatever somebody puts in.
type shape struct{ fields []field }

func (s *shape) add(f field) {
	s.fields = slices.DeleteFunc(s.fields, func(old field) bool { return old.name == f.name })
	s.fields = append(s.fields, f)
}

// op is a promised operation.
type op struct {
	method, path   string
	query          []field
	body, response *shape
}

var alias = regexp.MustCompile(`^(?:(GET|POST|PUT|DELETE|PATCH) )?(/\S+)`)

// operations are all of a part, aliases too.
func (f *file) operations(t *testing.T) []op {
	t.Helper()
	var out []op
	for _, raw := range f.Ops {
		methods, path, ok := strings.Cut(fmt.Sprint(raw["op"]), " ")
		if !ok {
			t.Errorf("%v is no operation", raw["op"])
			continue
		}
		for i, m := range strings.Split(methods, "|") {
			o := op{method: m, path: path, query: f.query(raw)}
			if m != "GET" && m != "DELETE" || !strings.Contains(methods, "|") {
				o.body = f.shape(raw["body"])
			}
			o.response = f.responseShape(raw, i)
			out = append(out, o)
			for _, also := range slices.Concat(list(raw["aliases"]), list(raw["also"])) {
				if a := alias.FindStringSubmatch(fmt.Sprint(also)); a != nil {
					o.method, o.path = m, a[2]
					out = append(out, o)
				}
			}
		}
	}
	return out
}

// query are the parameters of an operation, or of the one that it is said to be like.
func (f *file) query(raw map[string]any) []field {
	like, ok := raw["auth_as"].(string)
	i := slices.IndexFunc(f.Ops, func(o map[string]any) bool { return strings.HasSuffix(fmt.Sprint(o["op"]), "/"+like) })
	if ok && raw["query"] == nil && i >= 0 {
		raw = f.Ops[i]
	}
	return f.params(raw["query"])
}

// graph is the answer of an operation that tells its summary and its points.
func (f *file) graph(raw map[string]any) *shape {
	s := f.schema("Graph")
	for _, part := range []struct{ name, typeName, kind string }{{"summary", "summary", "object"}, {"data_points", "point", "array"}} {
		s.add(field{name: part.name, types: []string{part.kind}, elem: f.shape(raw[part.typeName])})
	}
	return s
}

// responseShape is that of success. Where one line speaks of several methods, their answers
// stand in the same order, and the last is that of the rest.
func (f *file) responseShape(raw map[string]any, i int) *shape {
	if raw["point"] != nil {
		return f.graph(raw)
	}
	r, _ := raw["response"].(map[string]any)
	if r == nil {
		r, _ = raw["resp"].(map[string]any)
	}
	v := r["200"]
	if s, ok := v.(string); ok && strings.Contains(s, " | ") {
		each := strings.Split(s, " | ")
		v = each[min(i, len(each)-1)]
	}
	return f.shape(v)
}

func (f *file) params(v any) []field {
	var out []field
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, f.field(name, v[name]))
		}
	case []any:
		for _, one := range v {
			p, _ := one.(map[string]any)
			if ref, ok := p["ref"].(string); ok {
				out = append(out, f.params(f.Shared[ref])...)
				continue
			}
			out = append(out, f.field(fmt.Sprint(p["name"]), p))
		}
	}
	return out
}

// limits are the names of limits in both notations, and in JSON Schema.
var limits = map[string]string{
	"min": "minimum", "max": "maximum", "min_len": "minLength", "minLen": "minLength", "max_len": "maxLength", "maxLen": "maxLength",
	"min_items": "minItems", "minItems": "minItems", "max_items": "maxItems", "maxItems": "maxItems",
}

func (f *file) field(name string, v any) field {
	out := field{name: name, limits: map[string]float64{}}
	switch v := v.(type) {
	case string:
		if out.elem = f.shape(v); out.elem != nil && strings.HasPrefix(v, "[") {
			out.types = []string{"array"}
		}
		if slices.Contains([]string{"string", "integer", "boolean", "number"}, v) {
			out.types = []string{v}
		}
	case map[string]any:
		if !isSpec(v) {
			out.elem = f.shape(v)
			return out
		}
		f.spec(&out, v)
	}
	return out
}

func isSpec(v map[string]any) bool {
	for _, k := range []string{"type", "t", "ref", "note"} {
		if _, ok := v[k].(string); ok {
			return true
		}
	}
	_, constant := v["const"]
	_, enum := v["enum"].([]any)
	return constant || enum
}

func (f *file) spec(out *field, v map[string]any) {
	out.required, out.readOnly, out.hidden = v["req"] == true, v["ro"] == true, v["wo"] == true
	out.nullable = v["null"] == true || v["nullable"] == true
	out.later = v["later"] != nil
	out.types = typeNames(v)
	for _, e := range slices.Concat(list(v["enum"]), list(v["const"]), f.enumOf(v["enum_ref"])) {
		out.enum = append(out.enum, fmt.Sprint(e))
	}
	for name, as := range limits {
		if n, ok := number(v[name]); ok {
			out.limits[as] = n
		}
	}
	for _, k := range []string{"ref", "items", "of"} {
		if s, ok := v[k].(string); ok && out.elem == nil {
			out.elem = f.schema(s)
		}
	}
	if props, ok := v["props"].(map[string]any); ok {
		out.elem = f.shape(props)
	}
}

func (f *file) enumOf(ref any) []any {
	switch v := f.Enums[fmt.Sprint(ref)].(type) {
	case []any:
		return v
	case map[string]any:
		return list(v["values"])
	}
	return nil
}

// typeNames are the JSON types of a specification: "object|string" is two.
func typeNames(v map[string]any) []string {
	s, _ := v["type"].(string)
	if s == "" {
		s, _ = v["t"].(string)
	}
	var out []string
	for _, w := range regexp.MustCompile(`\||, | or `).Split(s, -1) {
		w, _, _ = strings.Cut(strings.TrimSpace(w), " ")
		if slices.Contains([]string{"string", "integer", "number", "boolean", "object", "array"}, w) {
			out = append(out, w)
		}
	}
	return out
}

// schema is a named shape; nil for one that has variants instead of fields.
func (f *file) schema(name string) *shape {
	def, known := f.Schemas[name]
	if !known {
		return nil
	}
	return f.shape(def)
}

// shape reads what a contract writes where an object is.
func (f *file) shape(v any) *shape {
	switch v := v.(type) {
	case string:
		return f.prose(v)
	case map[string]any:
		if ref, ok := v["ref"].(string); ok {
			return f.schema(ref)
		}
		s := &shape{}
		if base, ok := v["extends"].(string); ok {
			if b := f.schema(base); b != nil {
				s.fields = slices.Clone(b.fields)
			}
		}
		fields := v
		if inner, ok := v["fields"].(map[string]any); ok {
			fields = inner
		} else if v["extends"] == nil && variants(v) {
			return nil
		}
		f.into(s, fields)
		return s
	}
	return nil
}

// variants reports whether a schema is a list of alternatives, as that of credentials
// of several kinds is.
func variants(v map[string]any) bool {
	for _, one := range v {
		m, ok := one.(map[string]any)
		if !ok || isSpec(m) {
			continue
		}
		for _, inner := range m {
			if _, isText := inner.(string); isText {
				return true
			}
		}
	}
	return false
}

func (f *file) into(s *shape, fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch name {
		case "note", "extends", "strict", "rule", "rules", "src", "ignored", "used_as", "*", "minProperties", "pkce":
			if _, isField := fields[name].(map[string]any); !isField || name == "*" {
				continue
			}
		case "...":
			if spread := f.shape(fields[name]); spread != nil {
				for _, one := range spread.fields {
					s.add(one)
				}
			}
			continue
		}
		s.add(f.field(name, fields[name]))
	}
}

func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
