package stream

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/kernel/wire"
)

// AmazonContentType is the content type of Amazon's streams, whose events are binary frames.
const AmazonContentType = "application/vnd.amazon.eventstream"

// Frames extracts passed-through events from the frames of Amazon's event streams. It
// belongs to one stream and goroutine.
type Frames struct {
	frames dialect.FrameReader
	event  []byte
	bad    bool // the data is not such a stream
}

// NewFrames returns the reader of a stream with the given header, and nil for a stream of another
// type.
func NewFrames(h wire.Header) *Frames {
	if !strings.HasPrefix(h.Get("content-type"), AmazonContentType) {
		return nil
	}
	return new(Frames)
}

// Feed passes the events that b completes to watch. For natively invoked models it passes the
// event inside the frame.
func (f *Frames) Feed(b []byte, watch *dialect.Stream) {
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

// AtBoundary reports whether the stream so far consists of complete frames.
func (f *Frames) AtBoundary() bool { return !f.bad && f.frames.AtBoundary() }
