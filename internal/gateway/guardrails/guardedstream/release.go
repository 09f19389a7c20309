package guardedstream

import "context"

// release appends the events that may be released. In hold mode these are all, at the end.
func (s *Stream) release(ctx context.Context, dst []byte) []byte {
	if s.hold && !s.finished {
		if !s.ending {
			return dst
		}
		dst = s.finishHeld(ctx, dst)
	}
	return s.releaseFinal(ctx, dst)
}

// releaseFinal appends the events whose texts are final, in order, up to the first one that must
// wait.
func (s *Stream) releaseFinal(ctx context.Context, dst []byte) []byte {
	for len(s.queue) > 0 && !s.denied {
		e := s.queue[0]
		final, denied := s.isReady(ctx, e)
		switch {
		case denied:
			return s.deny(ctx, dst)
		case !final:
			return dst
		case s.hold && e.hasText(): // it follows the last event, and no hook judged it
			s.queue, s.queued = s.queue[1:], s.queued-len(e.raw)
		case e.last && !s.finished:
			return s.releaseLast(ctx, dst, e)
		default:
			dst = s.emit(dst, e)
		}
	}
	return dst
}

// releaseLast judges the complete answer before its last event, and releases the events from it on.
func (s *Stream) releaseLast(ctx context.Context, dst []byte, e *event) []byte {
	final := s.judge.Finish(ctx, s.response())
	s.finished = true
	if final.Deny {
		return s.endDenied(dst, final.Trailer)
	}
	dst = s.appendTrailer(s.emit(dst, e), final.Trailer)
	return s.releaseFinal(ctx, dst)
}

// finish judges a complete answer that has no last event.
func (s *Stream) finish(ctx context.Context, dst []byte) []byte {
	final := s.judge.Finish(ctx, s.response())
	s.finished = true
	if final.Deny {
		return s.endDenied(dst, final.Trailer)
	}
	return s.appendTrailer(dst, final.Trailer)
}

// finishHeld judges an answer of which nothing was released, and releases it.
func (s *Stream) finishHeld(ctx context.Context, dst []byte) []byte {
	for _, e := range s.queue {
		if _, denied := s.isReady(ctx, e); denied {
			return s.deny(ctx, dst)
		}
	}
	s.rebase()
	final := s.judge.Finish(ctx, s.response())
	s.finished = true
	if final.Deny {
		return s.endDenied(dst, final.Trailer)
	}
	s.applyFinal(final)
	at := len(s.queue)
	for i, e := range s.queue {
		if e.last {
			at = i + 1
			break
		}
	}
	late := s.queue[at:]
	for _, e := range s.queue[:at] {
		dst = s.emit(dst, e)
	}
	dst = s.appendTrailer(dst, final.Trailer)
	s.queue = late
	return dst
}

// isReady reports whether all texts of an event are final. It calls the judge where that may help.
func (s *Stream) isReady(ctx context.Context, e *event) (final, denied bool) {
	if s.window == 0 {
		return true, false
	}
	for _, f := range e.fragments {
		c := f.channel
		if !c.isFinal(f.until) {
			if denied = c.needsJudge(f.until, s.window) && c.judgeText(ctx, s.judge, s.window); denied || !c.isFinal(f.until) {
				return false, denied
			}
		}
		if c.complete && len(c.edits) > 0 {
			s.removal.add(position{c.id.Choice, c.id.Block})
		}
	}
	return true, false
}

// emit appends one event, unless it was removed.
func (s *Stream) emit(dst []byte, e *event) []byte {
	s.queue = s.queue[1:]
	s.queued -= len(e.raw)
	if s.removal.drops(e) {
		s.removal.dropped++
		return dst
	}
	raw := s.removal.render(e, func(f finish) string { return s.surface.reason(f, s.hasCalls(f.choice)) })
	for _, f := range e.fragments {
		f.channel.released = max(f.channel.released, f.to)
	}
	s.surface.release(e, raw)
	s.openLine = !endsEvent(raw)
	return append(dst, raw...)
}

// hasCalls reports whether a choice has a call that was not removed.
func (s *Stream) hasCalls(choice int) bool {
	for i := range s.texts.calls {
		if p := s.surface.position(s.texts.calls[i].Channel); p.choice == choice && !s.removal.contains(p) {
			return true
		}
	}
	return false
}

// response returns the answer for Judge.Finish.
func (s *Stream) response() *Answer {
	return &Answer{Texts: s.texts.collect(), Calls: s.texts.calls, Regular: s.regular, Partial: s.texts.partial, Denied: s.denied}
}

// deny ends the answer and reports it to the judge.
func (s *Stream) deny(ctx context.Context, dst []byte) []byte {
	if s.finished { // the last event was released; what follows it is dropped
		s.denied, s.queue = true, nil
		return dst
	}
	s.denied, s.finished, s.regular = true, true, false
	final := s.judge.Finish(ctx, s.response())
	return s.endDenied(dst, final.Trailer)
}

// endDenied frees what was held, and appends the end of a denied answer if the input has ended.
func (s *Stream) endDenied(dst, trailer []byte) []byte {
	s.denied = true
	s.queue, s.queued, s.openLine = nil, 0, false
	s.beginDrain(trailer)
	if s.ending {
		return s.endDrain(dst)
	}
	return dst
}

// appendTrailer appends complete events after an event.
func (s *Stream) appendTrailer(dst, trailer []byte) []byte {
	if len(trailer) > 0 && s.openLine {
		dst = append(dst, "\n\n"...)
	}
	return append(dst, trailer...)
}

// endsEvent reports whether an event has its blank line.
func endsEvent(raw []byte) bool {
	n := len(raw)
	if n < 2 {
		return n == 1 && (raw[0] == '\n' || raw[0] == '\r')
	}
	return raw[n-1] == '\n' && (raw[n-2] == '\n' || n > 3 && raw[n-2] == '\r' && raw[n-3] == '\n') || raw[n-1] == '\r' && raw[n-2] == '\r'
}

// rebase makes the edited texts the texts of the channels, so that further edits refer to them.
func (s *Stream) rebase() {
	for _, e := range s.queue {
		for _, f := range e.fragments {
			f.altered = f.isEdited()
			f.dropEditedSurrogates()
			f.from, f.to = f.channel.moved(f.from), f.channel.moved(f.to)
			f.until = f.channel.moved(min(f.until, len(f.channel.text)))
		}
	}
	for _, c := range s.texts.list {
		c.text = []byte(c.edited(0, len(c.text)))
		c.edits, c.fixed, c.context, c.contextLength, c.inString = nil, 0, 0, 0, false
		c.judged, c.judgedLast = len(c.text), true
	}
}

// applyFinal applies what the judge decided about a held answer.
func (s *Stream) applyFinal(final Final) {
	for _, i := range final.RemoveCalls {
		if i >= 0 && i < len(s.texts.calls) {
			s.removal.add(s.surface.position(s.texts.calls[i].Channel))
		}
	}
	for _, c := range s.texts.list {
		c.apply(c.normal(final.Edits[c.id], 0, 0), len(c.text))
		if c.complete && len(c.edits) > 0 {
			s.removal.add(position{c.id.Choice, c.id.Block})
		}
	}
}
