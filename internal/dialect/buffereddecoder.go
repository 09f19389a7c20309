package dialect

import (
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// BufferedDecoder reads a response that is not a stream as a stream, for providers that never
// stream. It buffers the body, at most 32 MiB. When the connection is closed, u decodes the body
// and Replay emits it.
func BufferedDecoder(incoming *Incoming, u Upstream) EventDecoder {
	return &bufferedDecoder{incoming: *incoming, upstream: u}
}

type bufferedDecoder struct {
	incoming Incoming
	upstream Upstream
	body     []byte
}

// Feed buffers the body.
func (d *bufferedDecoder) Feed(p []byte, _ func(*llm.Event)) error {
	if len(d.body)+len(p) > maxFrameBytes {
		return fault.Newf(fault.UpstreamInvalid, "the provider response is larger than %d bytes", maxFrameBytes)
	}
	d.body = append(d.body, p...)
	return nil
}

// Close decodes the complete body.
func (d *bufferedDecoder) Close(emit func(*llm.Event)) error {
	d.incoming.Body = d.body
	r, err := d.upstream.DecodeResponse(&d.incoming)
	if err != nil {
		return err
	}
	Replay(r, emit)
	return nil
}
