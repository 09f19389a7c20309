package admin

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/fault"
	"sluice/internal/resource"
)

// flag is a switch that the wire writes as 0 or 1; true and false are accepted too.
// Source: contract/content-and-observability.yaml, conventions.booleans_as_int.
type flag struct{}

// Schema describes flag.
func (flag) Schema(huma.Registry) *huma.Schema {
	number := &huma.Schema{Type: huma.TypeInteger, Enum: []any{0.0, 1.0}}
	number.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{number, {Type: huma.TypeBoolean}}}
}

// setFlag sets a switch to the value that was sent; a missing field leaves it unchanged.
func setFlag(sent resource.Sent, name string, to *bool) error {
	if !sent.Has(name) {
		return nil
	}
	switch string(sent[name]) {
	case "1", "true":
		*to = true
	case "0", "false":
		*to = false
	default:
		return fault.New(fault.InvalidParameter, "must be 0 or 1").WithParam(name)
	}
	return nil
}

// bit returns the form of a switch in responses.
func bit(enabled bool) int {
	if enabled {
		return 1
	}
	return 0
}

// encode is for types that always encode.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("admin: encode: " + err.Error())
	}
	return b
}

// none is the type of fields that are always null for now.
type none struct{}

// Schema describes none.
func (none) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: "null"} }
