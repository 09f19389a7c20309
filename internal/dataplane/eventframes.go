package dataplane

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/wire"
)

// framed extracts passed-through events from the frames of Amazon's event streams.
type framed struct {
	frames dialect.FrameReader
	event  []byte
	bad    bool // the data is not such a stream
}

// framedBy returns nil for a stream of another type.
func framedBy(h wire.Header) *framed {
	if !strings.HasPrefix(h.Get("content-type"), amazonStream) {
		return nil
	}
	return new(framed)
}

// events passes the events that b completes to watch. For natively invoked models it passes the
// event inside the frame.
func (f *framed) events(b []byte, watch *dialect.Stream) {
	if f.bad {
		return
	}
	err := f.frames.Feed(b, func(fr *dialect.Frame) error {
		f.event = append(f.event[:0], "data: "...)
		event, err := fr.Inner(f.event)
		if err != nil || len(event) == len(f.event) {
			event = append(f.event, fr.Payload...)
		}
		f.event = append(event, "\n\n"...)
		watch.Feed(f.event)
		return nil
	})
	f.bad = err != nil
}
