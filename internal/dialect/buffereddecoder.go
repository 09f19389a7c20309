package dialect

import (
	"sluice/internal/fault"
	"sluice/internal/llm"
)

// BufferedDecoder reads an answer that is no stream as one, for providers that answer
// whole whatever they are asked: it gathers the body, at most 32 MiB, has u read it and
// tells it by Replay when the connection is closed.
func BufferedDecoder(incoming *Incoming, u Upstream) EventDecoder {
	return &bufferedDecoder{incoming: *incoming, upstream: u}
}

type bufferedDecoder struct {
	incoming Incoming
	upstream Upstream
	body     []byte
}

// Feed keeps what came.
func (d *bufferedDecoder) Feed(p []byte, _ func(*llm.Event)) error {
	if len(d.body)+len(p) > maxFrameBytes {
		return fault.Newf(fault.UpstreamInvalid, "the provider response is larger than %d bytes", maxFrameBytes)
	}
	d.body = append(d.body, p...)
	return nil
}

// Close reads the whole.
func (d *bufferedDecoder) Close(emit func(*llm.Event)) error {
	d.incoming.Body = d.body
	r, err := d.upstream.DecodeResponse(&d.incoming)
	if err != nil {
		return err
	}
	Replay(r, emit)
	return nil
}
