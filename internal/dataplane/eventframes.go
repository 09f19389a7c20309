package dataplane

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/wire"
)

// framed takes events that are passed through out of the frames of Amazon's streams.
type framed struct {
	frames dialect.FrameReader
	event  []byte
	bad    bool // it is no such stream
}

// framedBy is nil for a stream of another kind.
func framedBy(h wire.Header) *framed {
	if !strings.HasPrefix(h.Get("content-type"), amazonStream) {
		return nil
	}
	return new(framed)
}

// events has those watched that b completes: of a model that is invoked natively the event
// that is inside.
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
