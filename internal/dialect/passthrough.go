package dialect

import (
	"sluice/internal/fault"
	"sluice/internal/llm"
)

// PassthroughCodec is the answering half of a Filer all of whose answers are files.
type PassthroughCodec struct {
	ContentType string // where the provider names none: "application/octet-stream"
}

// FileType says so.
func (f PassthroughCodec) FileType(llm.Endpoint) (string, bool) { return f.ContentType, true }

// TranslateResponse has nothing to decode.
func (PassthroughCodec) TranslateResponse(*Incoming) (*Response, error) {
	return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a file")
}
