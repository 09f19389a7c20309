package dialect

import (
	"sluice/internal/fault"
	"sluice/internal/llm"
)

// AsItIs is the answering half of a Filer all of whose answers are files.
type AsItIs struct {
	ContentType string // where the provider names none: "application/octet-stream"
}

// FileType says so.
func (f AsItIs) FileType(llm.Endpoint) (string, bool) { return f.ContentType, true }

// DecodeAnswer has nothing to decode.
func (AsItIs) DecodeAnswer(*Incoming) (*Answer, error) {
	return nil, fault.New(fault.UpstreamInvalid, "the provider's answer is no file")
}
