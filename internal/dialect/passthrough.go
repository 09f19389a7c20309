package dialect

import (
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// PassthroughCodec is the response side of a FileStreamer whose responses are all files.
type PassthroughCodec struct {
	ContentType string // used if the provider sends none: "application/octet-stream"
}

// FileType reports that every response is a file of that content type.
func (f PassthroughCodec) FileType(llm.Endpoint) (string, bool) { return f.ContentType, true }

// TranslateResponse returns an error, because a file is never decoded.
func (PassthroughCodec) TranslateResponse(*Incoming) (*Response, error) {
	return nil, fault.New(fault.UpstreamInvalid, "the provider response is not a file")
}
