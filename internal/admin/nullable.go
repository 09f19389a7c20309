package admin

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// nullable is an object or null, in bodies and answers.
type nullable[T any] struct{ object *T }

// Schema describes it.
func (nullable[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return s
}

// MarshalJSON writes the object, or null.
func (n nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.object) }

// rawField is a value that is described as T and kept as it was sent, for a reader that is
// stricter than a schema; nil when it was not sent, and null in answers.
type rawField[T any] struct{ json.RawMessage }

// Schema describes it.
func (rawField[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}
