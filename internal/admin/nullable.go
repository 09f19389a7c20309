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
