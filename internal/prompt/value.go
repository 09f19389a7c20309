package prompt

import (
	"bytes"
	"encoding/json"
	"strconv"

	"sluice/internal/fault"
	"sluice/internal/splice"
)

// value is a variable, or a part of one. It is taken apart when it is looked into, and
// belongs to one rendering.
type value struct {
	raw      []byte // JSON
	opened   bool
	members  map[string]*value
	elements []*value
}

// variablesOf are the variables of a call; nil means none. Raw is valid JSON.
func variablesOf(raw []byte) (*value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if raw[0] != '{' {
		return nil, fault.New(fault.InvalidParameter, "variables is an object of the values by name; send {} when the prompt has none").At("variables")
	}
	return &value{raw: raw}, nil
}

func (v *value) is(first byte) bool { return v.raw[0] == first }

func (v *value) open() {
	if v.opened {
		return
	}
	v.opened = true
	switch v.raw[0] {
	case '{':
		v.members = make(map[string]*value)
		for key, val := range splice.Members(v.raw) {
			s, _ := splice.Unquote(key) // a name of valid JSON
			v.members[s] = &value{raw: val}
		}
	case '[':
		for val := range splice.Elements(v.raw) {
			v.elements = append(v.elements, &value{raw: val})
		}
	}
}

// member is a field of an object, nil when there is none.
func (v *value) member(name string) *value {
	if !v.is('{') {
		return nil
	}
	v.open()
	return v.members[name]
}

func (v *value) list() []*value {
	v.open()
	return v.elements
}

// holds reports whether a section of the value is shown. Source:
// contract/content-and-observability.md 1.2, falsy set.
func (v *value) holds() bool {
	if v == nil {
		return false
	}
	switch v.raw[0] {
	case 'f', 'n':
		return false
	case '"':
		return len(v.raw) > 2
	case '[':
		return len(v.list()) > 0
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		f, err := strconv.ParseFloat(string(v.raw), 64)
		return err != nil || f != 0
	}
	return true
}

// text is the value as {{x}} prints it: a string as it is, null as nothing, anything
// else as compact JSON.
func (v *value) text() string {
	if v == nil || v.is('n') {
		return ""
	}
	if s, ok := splice.Unquote(v.raw); ok {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, v.raw) != nil { // was valid JSON: cannot happen
		return string(v.raw)
	}
	return b.String()
}
