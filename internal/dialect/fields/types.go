package fields

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// Kinds is a set of JSON types. A value must have one of them.
type Kinds uint8

// The JSON types. IsInteger accepts numbers without a decimal point or exponent; IsNumber
// accepts all numbers. IsSchema is an object that is a JSON schema.
const (
	IsString Kinds = 1 << iota
	IsInteger
	IsNumber
	IsBool
	IsList
	IsObject
	IsSchema
)

// kindNames are the names of the types: of one value, and of the elements of a list.
var kindNames = [...]struct{ one, many string }{
	{"a string", "strings"}, {"an integer", "integers"}, {"a number", "numbers"}, {"true or false", "booleans"}, {"a list", "lists"}, {"an object", "objects"}, {"a JSON schema, an object", "JSON schemas"},
}

// Fit reports whether a raw value that is present and not null has one of the types.
func (k Kinds) Fit(raw []byte) bool {
	switch raw[0] {
	case '"':
		return k&IsString != 0
	case '{':
		return k&(IsObject|IsSchema) != 0
	case '[':
		return k&IsList != 0
	case 't', 'f':
		return k&IsBool != 0
	}
	return k&IsNumber != 0 || k&IsInteger != 0 && isIntegral(raw)
}

// isIntegral reports whether a raw number is written as an integer.
func isIntegral(raw []byte) bool {
	for _, c := range raw {
		if (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// Refuse returns the error for a value with none of the types: "stream must be true or false".
func (k Kinds) Refuse(path string) error { return Type{Kinds: k}.refuse(path) }

// Type is the required type of a known member. It does not limit strings or the size of
// numbers; the provider checks those.
type Type struct {
	Kinds   Kinds
	Each    Kinds   // types of the elements of a list or of the values of an object; 0: anything
	Members Members // known members of an object; nil: anything
}

// Members are the types of the known members of an object, by name. Other members may be
// anything. Null counts as an absent member. A table is immutable once it is in use.
type Members map[string]Kinds

// Fit reports whether the member of that name may have the raw value.
func (m Members) Fit(name string, raw []byte) bool {
	allowed := m[name]
	return allowed == 0 || jsonedit.IsNull(raw) || allowed.Fit(raw)
}

// Check rejects a member whose value does not fit, with fault.InvalidParameter. Path is the path
// of the object in the caller's body.
func (m Members) Check(name, path string, raw []byte) error {
	if m.Fit(name, raw) {
		return nil
	}
	return m.Refuse(name, path)
}

// Refuse returns the error for a value that does not fit.
func (m Members) Refuse(name, path string) error { return m[name].Refuse(path + "." + name) }

// Types are the types of the known members of a request, by path: "stream",
// "reasoning.effort". Other members may be anything. A table is immutable once it is in use.
type Types map[string]Type

// Check rejects a value at that path that does not have its type, with
// fault.InvalidParameter. Null counts as an absent member. Accepted values cause no
// allocation.
func (t Types) Check(path string, raw []byte) error {
	allowed, known := t[path]
	if !known || jsonedit.IsNull(raw) {
		return nil
	}
	if !allowed.Kinds.Fit(raw) {
		return allowed.refuse(path)
	}
	switch {
	case allowed.Each != 0 && raw[0] == '[':
		return allowed.elements(path, raw)
	case raw[0] == '{' && (allowed.Each != 0 || allowed.Members != nil):
		return allowed.members(path, raw)
	}
	return nil
}

func (t Type) elements(path string, raw []byte) error {
	i := 0
	for val := range jsonedit.Elements(raw) {
		if !t.Each.Fit(val) {
			return t.Each.Refuse(ElementPath(path, i))
		}
		i++
	}
	return nil
}

func (t Type) members(path string, raw []byte) error {
	r := jsonedit.NewReader(raw)
	for name := range r.Members() {
		if r.Null() {
			continue
		}
		allowed, known := t.Members[string(name)]
		if !known {
			allowed = t.Each
		}
		if val := r.Raw(); allowed != 0 && !allowed.Fit(val) {
			return allowed.Refuse(path + "." + string(name))
		}
	}
	return nil
}

func (t Type) refuse(path string) error {
	var kinds []string
	for i, name := range kindNames {
		switch k := Kinds(1 << i); {
		case t.Kinds&k == 0:
		case k == IsList && t.Each != 0:
			kinds = append(kinds, "a list of "+kindNames[t.Each.first()].many)
		default:
			kinds = append(kinds, name.one)
		}
	}
	return Invalid(path, "must be "+strings.Join(kinds, " or "))
}

// first is the index in kindNames of the first type of a set.
func (k Kinds) first() int {
	i := 0
	for k&(1<<i) == 0 {
		i++
	}
	return i
}
