package guardedstream

// drain reads the rest of a denied answer: the client receives the end of the answer after the provider
// has counted its tokens, so that the usage in it is what the provider bills.
type drain struct {
	open    bool    // the end of the answer was not written
	rest    surface // reads the usage of the remaining events
	trailer []byte  // complete events that follow the end
}

// beginDrain holds the end of a denied answer until the rest of the input was read.
func (s *Stream) beginDrain(trailer []byte) {
	s.drain = drain{open: true, rest: newSurface(s.endpoint), trailer: trailer}
}

// drainInput reads bytes of the rest, and appends the end of the answer if they contain the last event.
func (s *Stream) drainInput(dst, p []byte) []byte {
	if !s.drain.open {
		return dst
	}
	s.split.feed(p)
	for {
		raw, flushed := s.split.next()
		if raw == nil {
			break
		}
		if !flushed && s.countUsage(raw) {
			return s.endDrain(dst)
		}
	}
	if s.split.pending() > s.options.MaxHeld {
		s.split.flush()
	}
	return s.keepAlive(dst, false)
}

// countUsage reads the usage in an event, and reports whether it is the last one.
func (s *Stream) countUsage(raw []byte) (last bool) {
	e := parseEvent(raw)
	if e.json {
		discarded := newTexts(s.window, 0)
		s.drain.rest.read(&discarded, e)
		if usage := s.drain.rest.counted(); *usage != nil {
			*s.surface.counted() = *usage
		}
	}
	return e.last || isDone(e.data)
}

// endDrain appends the end of the answer.
func (s *Stream) endDrain(dst []byte) []byte {
	if !s.drain.open {
		return dst
	}
	trailer := s.drain.trailer
	s.drain = drain{}
	return s.appendTrailer(s.surface.end(dst, &s.texts), trailer)
}
