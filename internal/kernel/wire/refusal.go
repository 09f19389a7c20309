package wire

import (
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Refusal returns the header and body of the response to a request that did not reach the
// gateway. It contains ids like every response.
func Refusal(f *fault.Error) (Header, []byte) { return RefusalOn(fault.Model, f) }

// RefusalOn is Refusal in the error format of a surface.
func RefusalOn(s fault.Surface, f *fault.Error) (Header, []byte) {
	id := ident.NewID()
	return Header{
		{Name: "x-gateway-request-id", Value: id},
		{Name: "x-gateway-trace-id", Value: id},
		{Name: "content-type", Value: "application/json"},
	}, f.Body(s)
}
