package prompt

import (
	"bytes"
	"encoding/json"
	"strconv"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// value is a variable, or a part of one. It is taken apart when it is looked into, and
// read when it is printed or judged, each once: the loop in which that is asked may be as
// long as the value. It belongs to one rendering.
type value struct {
	raw      []byte // JSON
	opened   bool
	members  map[string]*value
	elements []*value
	read     bool
	shown    string // what {{x}} prints
	zero     bool   // it is a number, and none
}

// variablesOf are the variables of a call; nil means none. Raw is valid JSON.
func variablesOf(raw []byte) (*value, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if raw[0] != '{' {
		return nil, fault.New(fault.InvalidParameter, "variables must be an object of values by name; send {} if the prompt has none").WithParam("variables")
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
		for key, val := range jsonedit.Members(v.raw) {
			s, _ := jsonedit.Unquote(key) // a name of valid JSON
			v.members[s] = &value{raw: val}
		}
	case '[':
		for val := range jsonedit.Elements(v.raw) {
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
		v.decode()
		return !v.zero
	}
	return true
}

// text is the value as {{x}} prints it: a string as it is, null as nothing, anything
// else as compact JSON.
func (v *value) text() string {
	if v == nil {
		return ""
	}
	v.decode()
	return v.shown
}

// decode reads the value.
func (v *value) decode() {
	if v.read {
		return
	}
	v.read = true
	var text bool
	if v.shown, text = jsonedit.Unquote(v.raw); text || v.is('n') {
		return
	}
	var b bytes.Buffer
	if json.Compact(&b, v.raw) != nil { // was valid JSON: cannot happen
		b.Write(v.raw)
	}
	v.shown = b.String()
	f, err := strconv.ParseFloat(v.shown, 64)
	v.zero = err == nil && f == 0
}
