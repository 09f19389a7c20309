package guardedstream

import (
	"context"
	"slices"
	"time"

	"sluice/internal/kernel/llm"
)

// Stream guards the answer of one call. It belongs to one goroutine.
type Stream struct {
	judge    Judge
	window   int
	hold     bool
	options  Options
	endpoint llm.Endpoint
	surface  surface

	split    splitter
	texts    texts
	queue    []*event // received and not released
	queued   int      // their bytes
	removal  removal
	finished bool // the answer was judged to its end
	ending   bool // the last event or the end of the input arrived
	regular  bool // the last event arrived
	denied   bool
	drain    drain
	err      error
	lastOut  time.Time // when bytes were last released
	openLine bool      // the last released event has no blank line
}

// surface is the format of a stream.
type surface interface {
	// read finds the texts of an event with JSON data, and adds them to t.
	read(t *texts, e *event)
	// counted returns the last usage that the provider counted; it may be replaced.
	counted() *[]byte
	// release notes an event that the client receives, as it is rendered. Raw may be changed later.
	release(e *event, raw []byte)
	// reason returns the reason for the end of a choice after calls were removed from it.
	reason(f finish, callsLeft bool) string
	// position returns the position of a call in the stream.
	position(arguments Channel) position
	// end appends the events that end a denied answer after the released ones.
	end(dst []byte, t *texts) []byte
}

// New returns the guard of a stream in the format of an endpoint: llm.ChatComplete, llm.Complete,
// llm.Messages or llm.CreateModelResponse. The streams of other endpoints are read as chat
// completions; texts in other members are judged too.
func New(endpoint llm.Endpoint, j Judge, o Options) *Stream {
	if o.MaxHeld <= 0 {
		o.MaxHeld = DefaultMaxHeld
	}
	s := &Stream{judge: j, window: max(j.Window(), 0), hold: j.Hold(), options: o, endpoint: endpoint, surface: newSurface(endpoint)}
	limit := 0
	if s.reports() {
		limit = o.MaxHeld
	}
	s.texts = newTexts(s.window, limit)
	if o.Now != nil {
		s.lastOut = o.Now()
	}
	return s
}

func newSurface(endpoint llm.Endpoint) surface {
	switch endpoint {
	case llm.Messages:
		return &messages{}
	case llm.CreateModelResponse:
		return &responses{}
	default:
		return &chat{legacy: endpoint == llm.Complete, choices: map[int]*choiceState{}}
	}
}

// Denied reports whether the judge denied the answer, or it exceeded its limit. The rest of the input
// is then read for the usage only. The end of the answer follows the last event of the input, or Close.
func (s *Stream) Denied() bool { return s.denied }

// Err returns ErrHeld if the answer was denied because it exceeded Options.MaxHeld, and nil
// otherwise.
func (s *Stream) Err() error { return s.err }

// reports reports whether the judge neither holds nor changes the answer.
func (s *Stream) reports() bool { return s.window == 0 && !s.hold }

// Append reads bytes of the stream and appends to dst the events that may be released. It returns the
// error of ctx, and then releases nothing.
func (s *Stream) Append(ctx context.Context, dst, p []byte) ([]byte, error) {
	if s.denied {
		return s.drainInput(dst, p), ctx.Err()
	}
	begin := len(dst)
	s.split.feed(p)
	for {
		raw, flushed := s.split.next()
		if raw == nil {
			break
		}
		s.add(raw, flushed)
	}
	if s.hold {
		dst = s.limit(ctx, dst)
	}
	if !s.denied {
		dst = s.limit(ctx, s.release(ctx, dst))
	}
	if err := ctx.Err(); err != nil {
		return dst[:begin], err
	}
	return s.keepAlive(dst, len(dst) > begin), nil
}

// Close reads the end of the input, regular or cut, and appends the rest of the answer to dst.
func (s *Stream) Close(ctx context.Context, dst []byte) ([]byte, error) {
	if s.denied {
		return s.endDrain(dst), ctx.Err()
	}
	begin := len(dst)
	s.addRest()
	s.texts.end(-1, -1)
	s.ending = true
	dst = s.release(ctx, dst)
	if !s.finished && !s.denied {
		dst = s.finish(ctx, dst)
	}
	dst = s.endDrain(dst)
	if err := ctx.Err(); err != nil {
		return dst[:begin], err
	}
	return dst, nil
}

// add reads an event and queues it. An event whose beginning was flushed passes as it is.
func (s *Stream) add(raw []byte, flushed bool) {
	if flushed {
		s.read(&event{raw: raw, base: raw})
		return
	}
	s.read(parseEvent(raw))
}

// addRest adds the event that the end of the input cut. Clients do not read an incomplete one, and its
// text has no channel that a judge can read: it is dropped, except in report mode.
func (s *Stream) addRest() {
	if s.split.pending() == 0 {
		return
	}
	raw, flushed := s.split.rest()
	if flushed || s.reports() || !parseEvent(raw).cut {
		s.add(raw, flushed)
	}
}

// read finds the texts of an event, and queues it.
func (s *Stream) read(e *event) {
	if e.json {
		s.surface.read(&s.texts, e)
	}
	s.texts.addLines(e)
	s.texts.finishEvent()
	e.last = e.last || isDone(e.data)
	if e.last {
		s.texts.end(-1, -1)
		s.ending, s.regular = true, true
	}
	s.queue = append(s.queue, e)
	s.queued += len(e.raw)
}

// limit applies Options.MaxHeld.
func (s *Stream) limit(ctx context.Context, dst []byte) []byte {
	switch {
	case s.denied:
		return dst
	case s.reports() && s.split.pending() > s.options.MaxHeld:
		s.texts.partial = true
		return append(dst, s.split.flush()...)
	case !s.reports() && s.queued+s.split.pending()+s.texts.size > s.options.MaxHeld:
		s.err = ErrHeld
		return s.deny(ctx, dst)
	}
	return dst
}

// waitsLong reports whether events are held for longer than a window.
func (s *Stream) waitsLong() bool {
	if s.drain.open {
		return true
	}
	if len(s.queue) == 0 {
		return false
	}
	return s.hold || slices.ContainsFunc(s.queue[0].fragments, func(f *fragment) bool { return f.channel.complete })
}

// keepAlive appends a comment when events are held and the client received nothing for the interval.
func (s *Stream) keepAlive(dst []byte, released bool) []byte {
	if s.options.Now == nil || s.options.KeepAlive <= 0 {
		return dst
	}
	now := s.options.Now()
	switch {
	case released:
		s.lastOut = now
	case s.waitsLong() && now.Sub(s.lastOut) >= s.options.KeepAlive:
		s.lastOut = now
		return append(dst, ": keep-alive\n\n"...)
	}
	return dst
}
