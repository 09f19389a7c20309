package jsonfield

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Null is the type of fields that are always null for now.
type Null struct{}

// Schema describes Null.
func (Null) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: "null"} }

// OrNil returns nil for 0.
func OrNil(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// Convert converts a list element by element; nil for nil.
func Convert[To, From any](list []From, convert func(From) To) []To {
	if list == nil {
		return nil
	}
	out := make([]To, len(list))
	for i, v := range list {
		out[i] = convert(v)
	}
	return out
}

// Nullable is an object or null, in bodies and responses.
type Nullable[T any] struct{ Object *T }

// Schema describes Nullable.
func (Nullable[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return s
}

// MarshalJSON writes the object, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Object) }

// Raw is a value that is described as T and stored as it was sent, for a parser that is
// stricter than a schema. It is nil if it was not sent, and null in responses.
type Raw[T any] struct{ json.RawMessage }

// Schema describes Raw.
func (Raw[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// OrEmpty returns an empty list for nil.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// OrNull returns nil for an empty string.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
