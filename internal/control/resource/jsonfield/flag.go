package jsonfield

import (
	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/fault"
)

// Flag is a switch that the wire writes as 0 or 1; true and false are accepted too.
// Source: contract/content-and-observability.yaml, conventions.booleans_as_int.
type Flag struct{}

// Schema describes Flag.
func (Flag) Schema(huma.Registry) *huma.Schema {
	number := &huma.Schema{Type: huma.TypeInteger, Enum: []any{0.0, 1.0}}
	number.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{number, {Type: huma.TypeBoolean}}}
}

// SetFlag sets a switch to the value that was sent; a missing field leaves it unchanged.
func SetFlag(sent resource.Sent, name string, to *bool) error {
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

// Bit returns the form of a switch in responses.
func Bit(enabled bool) int {
	if enabled {
		return 1
	}
	return 0
}
