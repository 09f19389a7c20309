package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// StreamOptions says what to make of an event stream. The zero value watches a stream
// and changes nothing.
type StreamOptions struct {
	Endpoint llm.Endpoint
	Framing  Framing

	// HideUsage is set when usage was asked for on the caller's behalf (Shaped.AddedUsageRequest):
	// the event that brings nothing but usage is taken out, and so are the "usage":null
	// members of the others.
	HideUsage bool

	// Rules are the provider's; only FinishReasons, UsagePath and NoDone matter here.
	Rules ResponseRules

	// ID replaces the id of every chunk, for a stream that continues another: official
	// clients refuse chunks whose id changes. Empty leaves them.
	ID string

	// CollectText gathers the text of a chat, so that the stream can be continued on
	// another target: StreamEnd.Text.
	CollectText bool
}

// Stream watches the event stream of one attempt: it counts, meters and finds the end.
// It belongs to one goroutine.
type Stream struct {
	opt    StreamOptions
	split  splitter
	watch  eventInspector
	change eventRewriter
	plain  pattern
	out    []byte
	joined []byte
	mid    bool // what was relayed so far ends inside an event
	held   bool // the unfinished event, all of it, was not relayed yet: it may be an error
	fixes  []fix
	blank  bool // Lines: the blank line behind the last event is written already
}

// NewStream makes a Stream. It starts nothing and holds no resource.
func NewStream(o StreamOptions) *Stream {
	return &Stream{opt: o, split: splitter{framing: o.Framing}, watch: newWatch(&o), change: newChanger(&o)}
}

// holds reports whether an event must be whole before it goes out: because it may be
// changed, or because another target would have to go on from it.
func (s *Stream) holds() bool {
	return s.change.enabled || s.opt.CollectText || s.opt.Framing == Lines
}

// Feed takes what one read of the upstream brought and returns what to relay now.
//
// In the plain case that is p itself: nothing is copied, held back or allocated. Where
// events may be changed (HideUsage, ID, Rules, Framing Lines) or text is kept, whole
// events are returned at once and the beginning of the next is held until its end
// comes, up to 1 MiB; a larger event is relayed as it comes and unchanged. The result
// is valid until the next call.
func (s *Stream) Feed(p []byte) []byte {
	s.out, s.fixes = s.out[:0], s.fixes[:0]
	from := s.relayed()
	s.split.begin(p)
	for {
		if ev, cut := s.split.pass(&s.plain); ev != nil {
			s.watch.passed()
			if s.holds() {
				s.out = append(s.out, ev[:cut.from]...)
				s.out = append(s.out, ev[cut.to:]...)
			}
			continue
		}
		pc, ok := s.split.next()
		if !ok {
			break
		}
		s.event(pc)
	}
	head, fresh := s.split.rest()
	if head != nil {
		s.watch.head(head, &s.joined)
	}
	s.mid = s.split.large || !s.holds() && s.split.done < len(s.split.buf)
	if !s.holds() {
		if s.corrects() {
			p = s.corrected(from, p)
		}
		s.split.savePartial()
		return p
	}
	s.out = append(s.out, fresh...)
	s.split.savePartial()
	return s.out
}

func (s *Stream) event(pc splitEvent) {
	if pc.large {
		s.watch.tail(pc.all)
		if s.holds() {
			s.out = append(s.out, pc.fresh...)
		}
		return
	}
	e := parse(pc.all, &s.joined)
	plain, relayed := s.watch.event(e), pc.all
	if s.watch.fresh {
		s.fix(pc.all, e)
	}
	if s.holds() {
		before := len(s.out)
		s.relay(pc.all, e)
		relayed = s.out[before:]
	}
	if plain && s.change.isPattern() && s.opt.Framing == SSE {
		s.plain.learn(pc.all, relayed)
	}
}

// relay writes an event with its changes.
func (s *Stream) relay(ev []byte, e event) {
	if s.opt.Framing == Lines && s.line(e) {
		return
	}
	data, drop := s.change.data(e)
	if s.watch.fresh && s.corrects() && e.end > 0 {
		drop, data = false, withCode(s.opt.Endpoint, e.name, orData(data, e))
	}
	switch {
	case len(s.fixes) > 0 && s.watch.fresh && s.fixes[len(s.fixes)-1].same == 0:
		s.out = append(s.out, s.fixes[len(s.fixes)-1].with...)
		return
	case drop:
		s.blank = true
		return
	case data == nil:
		s.out = append(s.out, ev...)
	default:
		s.out = append(s.out, ev[:e.off]...)
		s.out = append(s.out, data...)
		s.out = append(s.out, ev[e.end:]...)
	}
	if s.opt.Framing == Lines && e.data != nil {
		s.out = append(s.out, '\n')
		s.blank = true
	}
}

// orData is the changed data of an event, or its own where nothing was changed.
func orData(changed []byte, e event) []byte {
	if changed == nil {
		return e.data
	}
	return changed
}

// line reports whether a line is a blank one that was written already.
func (s *Stream) line(e event) bool {
	again := s.blank && e.data == nil && e.name == nil
	s.blank = false
	return again
}

// StreamEnd is what a stream came to.
type StreamEnd struct {
	// Tail is what must still be relayed; empty in the plain case. It belongs to the
	// caller.
	Tail []byte

	// Done says that the surface's last event came: [DONE], response.completed and its
	// like, message_stop, transcript.text.done. A stream that is over and neither Done
	// nor failed with UpstreamError was cut by the upstream.
	Done bool

	// Finished says that a chunk with a finish_reason came (chat and completions), so
	// that the text is whole even if the stream was cut behind it.
	Finished bool

	// Mid says that what was relayed ends inside an event: a blank line must go before
	// anything else that is written.
	Mid bool

	// Failed says that the upstream put an error into the stream; UpstreamError is its
	// text, at most 1 KiB, for the log.
	Failed        bool
	UpstreamError string
	Status        int // that stands for the error: 429; 500 where nothing tells

	// Sequence is the number that the next event of a response has; 0 on other surfaces.
	Sequence int64

	Usage  llm.Usage
	Model  string // as the upstream named it
	ID     string // of the first chunks
	Events int    // with data

	// Text is the chat's text so far when StreamOptions.CollectText was set. TextOnly says
	// that nothing else came (tool calls, reasoning, a second choice, over 1 MiB), so
	// that another target can go on from it.
	Text     string
	TextOnly bool
}

// Failure is the error that the provider put into the stream until now, and the HTTP status
// that stands for it; failed is false when there is none.
func (s *Stream) Failure() (message string, status int, failed bool) {
	return s.watch.failure, s.watch.status, s.watch.failed
}

// Counted reports whether that error came with the usage, or the usage after it, so that it is
// all that the provider counts.
func (s *Stream) Counted() bool { return s.watch.counted }

// End closes the stream: an event without its end counts when its data is whole. It is
// called once, after the last Feed.
func (s *Stream) End() StreamEnd {
	s.out = nil
	if left := s.split.partial; len(left) > 0 {
		s.mid = s.mid && !s.split.ended()
		s.last(s.split.take(left))
	}
	w := &s.watch
	if s.opt.Rules.NoDone && completes(s.opt.Endpoint) && w.finished && !w.done && !w.failed {
		if s.mid {
			s.out = append(s.out, "\n\n"...)
		}
		s.out = append(s.out, "data: [DONE]\n\n"...)
		w.done, s.mid = true, false
	}
	return StreamEnd{
		Tail: s.out, Done: w.done, Finished: w.finished, Mid: s.mid,
		Failed: w.failed, UpstreamError: w.failure, Status: w.status, Sequence: w.sequence,
		Usage: w.counts.usage(), Model: w.model, ID: w.id, Events: w.events,
		Text: string(w.text), TextOnly: s.opt.CollectText && !w.noText,
	}
}

// last takes an event that the end of the stream cut off. Where events are held back,
// one that is not whole is left out, as readers of such streams do.
func (s *Stream) last(pc splitEvent) {
	if pc.large {
		s.watch.tail(pc.all)
		return
	}
	e := parse(pc.all, &s.joined)
	complete := isDone(e.data) || splice.Valid(e.data) || string(e.name) == errorName && len(e.data) > 0
	if complete {
		s.watch.event(e)
	}
	if s.held && !s.holds() {
		s.lastHeld(pc.all, e, complete)
		return
	}
	if s.fixes = s.fixes[:0]; s.holds() && complete && s.watch.fresh {
		if s.fix(pc.all, e); len(s.fixes) > 0 && s.fixes[0].same == 0 {
			s.out, s.mid = append(s.out, s.fixes[0].with...), false
			return
		}
	}
	if s.holds() && (complete || len(e.data) == 0) {
		s.relay(pc.all, e)
		s.mid = len(s.out) > 0
		if complete && s.mid && s.opt.Framing == SSE {
			s.out = append(s.out, "\n\n"...)
			s.mid = false
		}
	}
}
