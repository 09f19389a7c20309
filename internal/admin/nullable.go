package admin

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// nullable is an object or null, in bodies and responses.
type nullable[T any] struct{ object *T }

// Schema describes nullable.
func (nullable[T]) Schema(r huma.Registry) *huma.Schema {
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	s.Nullable = true
	return s
}

// MarshalJSON writes the object, or null.
func (n nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.object) }

// rawField is a value that is described as T and stored as it was sent, for a parser that is
// stricter than a schema. It is nil if it was not sent, and null in responses.
type rawField[T any] struct{ json.RawMessage }

// Schema describes rawField.
func (rawField[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}
