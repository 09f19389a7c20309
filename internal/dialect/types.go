package dialect

import (
	"strings"

	"sluice/internal/splice"
)

// Kinds is a set of JSON types, one of which a value must have.
type Kinds uint8

// The JSON types. IsInteger takes numbers without a point and an exponent, IsNumber takes
// these too; IsSchema is an object that is a JSON schema.
const (
	IsString Kinds = 1 << iota
	IsInteger
	IsNumber
	IsBool
	IsList
	IsObject
	IsSchema
)

// kindNames are what the types are called: alone, and as elements of a list.
var kindNames = [...]struct{ one, many string }{
	{"a string", "strings"}, {"an integer", "integers"}, {"a number", "numbers"}, {"true or false", "booleans"}, {"a list", "lists"}, {"an object", "objects"}, {"a JSON schema, an object", "JSON schemas"},
}

// Fit reports whether a raw value that is there and not null is of one of the types.
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

// isIntegral reports whether a raw number is written as a whole one.
func isIntegral(raw []byte) bool {
	for _, c := range raw {
		if (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// Refuse is the refusal of a value of none of the types: "stream must be true or false".
func (k Kinds) Refuse(path string) error { return Type{Kinds: k}.refuse(path) }

// Type is what the value of a known member must be. It says nothing about which strings or
// how large numbers are allowed: that is for the provider to say.
type Type struct {
	Kinds   Kinds
	Each    Kinds   // the elements, where it is a list, or the values, where it is an object; 0: anything
	Members Members // the members that are known, where it is an object; nil: anything
}

// Members are the types of the members of an object that are known, by their names; others
// may be anything. Null stands for a member that is not there. A table never changes once it
// is in use.
type Members map[string]Kinds

// Fit reports whether a raw value is one that the member of that name may have.
func (m Members) Fit(name string, raw []byte) bool {
	allowed := m[name]
	return allowed == 0 || splice.IsNull(raw) || allowed.Fit(raw)
}

// Check refuses a member whose value does not fit, with fault.InvalidParameter. At is where
// the object stands in the caller's body.
func (m Members) Check(name, path string, raw []byte) error {
	if m.Fit(name, raw) {
		return nil
	}
	return m.Refuse(name, path)
}

// Refuse is the refusal of a value that does not fit.
func (m Members) Refuse(name, path string) error { return m[name].Refuse(path + "." + name) }

// Types are the members of a request that are known, by their paths in it: "stream",
// "reasoning.effort". Others may be anything. A table never changes once it is in use.
type Types map[string]Type

// Check refuses what stands at that path when it is not what it must be, with
// fault.InvalidParameter. Null stands for a member that is not there. Nothing is allocated
// for what is accepted.
func (t Types) Check(path string, raw []byte) error {
	allowed, known := t[path]
	if !known || splice.IsNull(raw) {
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
	for val := range splice.Elements(raw) {
		if !t.Each.Fit(val) {
			return t.Each.Refuse(ElementPath(path, i))
		}
		i++
	}
	return nil
}

func (t Type) members(path string, raw []byte) error {
	r := splice.NewReader(raw)
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
	return InvalidField(path, "must be "+strings.Join(kinds, " or "))
}

// first is the place of the first type of a set in kindNames.
func (k Kinds) first() int {
	i := 0
	for k&(1<<i) == 0 {
		i++
	}
	return i
}
