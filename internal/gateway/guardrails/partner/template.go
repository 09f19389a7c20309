package partner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// A template is a JSON value with placeholders. Values are encoded as JSON, so that no text can leave
// its string. A member or item whose placeholder has no value is omitted. Placeholders are objects
// with one member whose name begins with $:
//
//	{"$": "param.recipe"}                          a value; see callValues and nested
//	{"$": "param.policyId", "as": "number"}        as a number, "text" or "boolean"
//	{"$each": "texts", "do": …}                    a list: the template for each item
//	{"$members": "param.scanners", "value": true}  an object whose members a list names
//	{"$phase": {"input": …, "output": …}}          one of two templates
//	{"$if": "param.redact", "then": …, "else": …}  one of two templates
//	{"$concat": […, …]}                            a list: the items of several lists
//	{"$json": …}                                   a string that contains the JSON of a template
type template interface {
	// build returns a value for encoding/json; omitted for none.
	build(v *values) (any, error)
}

// omitted is the result of a template without a value.
type omitted struct{}

// parseTemplate compiles a template.
func parseTemplate(raw []byte) (template, error) {
	if len(raw) == 0 {
		return constant{nil}, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	return compileTemplate(tree)
}

func compileTemplate(tree any) (template, error) {
	switch tree := tree.(type) {
	case map[string]any:
		for key := range tree {
			if key != "" && key[0] == '$' {
				return compilePlaceholder(key, tree)
			}
		}
		o := object{}
		for _, key := range names(tree) {
			t, err := compileTemplate(tree[key])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			o = append(o, objectMember{key, t})
		}
		return o, nil
	case []any:
		var l list
		for i, item := range tree {
			t, err := compileTemplate(item)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			l = append(l, t)
		}
		return l, nil
	}
	return constant{tree}, nil
}

// compilePlaceholder compiles an object with a member whose name begins with $.
func compilePlaceholder(key string, tree map[string]any) (template, error) {
	text, _ := tree[key].(string)
	switch key {
	case "$":
		n, err := parseName(text)
		as, _ := tree["as"].(string)
		return &placeholder{n, as}, err
	case "$each":
		return compileEach(text, tree["do"])
	case "$members":
		n, err := parseName(text)
		return &members{n, tree["value"]}, err
	case "$phase":
		both, _ := tree[key].(map[string]any)
		return compileChoice("isOutput", both["output"], both["input"])
	case "$if":
		return compileChoice(text, tree["then"], tree["else"])
	case "$concat":
		inner, err := compileTemplate(tree[key])
		return &concatenation{inner}, err
	case "$json":
		inner, err := compileTemplate(tree[key])
		return &jsonText{inner}, err
	}
	return nil, fmt.Errorf("unknown placeholder %q", key)
}

type constant struct{ value any }

func (c constant) build(*values) (any, error) { return c.value, nil }

type objectMember struct {
	name  string
	value template
}

type object []objectMember

func (o object) build(v *values) (any, error) {
	out := make(map[string]any, len(o))
	for _, m := range o {
		value, err := m.value.build(v)
		if err != nil {
			return nil, err
		}
		if _, none := value.(omitted); !none {
			out[m.name] = value
		}
	}
	return out, nil
}

type list []template

func (l list) build(v *values) (any, error) {
	out := make([]any, 0, len(l))
	for _, t := range l {
		value, err := t.build(v)
		if err != nil {
			return nil, err
		}
		if _, none := value.(omitted); !none {
			out = append(out, value)
		}
	}
	return out, nil
}

// placeholder is the value of a name.
type placeholder struct {
	name name
	as   string // "number", "text", "boolean"; empty leaves it as it is
}

func (p *placeholder) build(v *values) (any, error) {
	value := v.get(p.name)
	if value == nil {
		return omitted{}, nil
	}
	switch p.as {
	case "number":
		if s, ok := value.(string); ok {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n, nil
			}
		}
	case "text":
		return plainText(value), nil
	case "boolean":
		return truthy(value), nil
	}
	return value, nil
}

// plainText returns a scalar as text.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// each is a list with a template for each item of a list.
type each struct {
	name name
	item template
}

func compileEach(text string, do any) (template, error) {
	n, err := parseName(text)
	if err != nil {
		return nil, err
	}
	t, err := compileTemplate(do)
	return &each{n, t}, err
}

func (e *each) build(v *values) (any, error) {
	items, _ := v.get(e.name).([]any)
	out := make([]any, 0, len(items))
	for i, item := range items {
		inner := *v
		inner.item, inner.index = item, i
		value, err := e.item.build(&inner)
		if err != nil {
			return nil, err
		}
		if _, none := value.(omitted); !none {
			out = append(out, value)
		}
	}
	return out, nil
}

// members is an object whose members a list names.
type members struct {
	name  name
	value any
}

func (m *members) build(v *values) (any, error) {
	out := map[string]any{}
	items, _ := v.get(m.name).([]any)
	for _, item := range items {
		if s, ok := item.(string); ok {
			out[s] = m.value
		}
	}
	return out, nil
}

// choice is one of two templates.
type choice struct {
	name     name
	yes, not template
}

func compileChoice(text string, yes, not any) (template, error) {
	n, err := parseName(text)
	if err != nil {
		return nil, err
	}
	c := &choice{name: n, yes: constant{omitted{}}, not: constant{omitted{}}}
	if yes != nil {
		if c.yes, err = compileTemplate(yes); err != nil {
			return nil, err
		}
	}
	if not != nil {
		c.not, err = compileTemplate(not)
	}
	return c, err
}

func (c *choice) build(v *values) (any, error) {
	if v.isTrue(c.name) {
		return c.yes.build(v)
	}
	return c.not.build(v)
}

// concatenation is a list of the items of several lists.
type concatenation struct{ lists template }

func (c *concatenation) build(v *values) (any, error) {
	value, err := c.lists.build(v)
	if err != nil {
		return nil, err
	}
	lists, _ := value.([]any)
	out := []any{}
	for _, item := range lists {
		inner, _ := item.([]any)
		out = append(out, inner...)
	}
	return out, nil
}

// jsonText is a string that contains the JSON of a template.
type jsonText struct{ inner template }

func (j *jsonText) build(v *values) (any, error) {
	value, err := j.inner.build(v)
	if err != nil {
		return nil, err
	}
	raw, err := encode(value)
	return string(raw), err
}

// encode returns JSON without escaped HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
