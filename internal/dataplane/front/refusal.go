package front

import (
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/wire"
)

// Refusal is the answer to a request that never came to the gateway, header and body,
// with ids as every answer has.
func Refusal(f *fault.Error) (wire.Header, []byte) { return RefusalOn(fault.Model, f) }

// RefusalOn is Refusal with the body of a surface.
func RefusalOn(s fault.Surface, f *fault.Error) (wire.Header, []byte) {
	id := ident.NewID()
	return wire.Header{
		{Name: "x-gateway-request-id", Value: id},
		{Name: "x-gateway-trace-id", Value: id},
		{Name: "content-type", Value: "application/json"},
	}, f.Body(s)
}
