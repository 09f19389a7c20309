package dialect

import (
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// StreamOptions configure how a Stream treats an event stream. The zero value watches a stream and
// changes nothing.
type StreamOptions struct {
	Endpoint llm.Endpoint
	Framing  Framing

	// HideUsage is set if the gateway requested usage that the caller did not request
	// (Shaped.AddedUsageRequest). It removes the event that contains only usage, and the
	// "usage":null members of the others.
	HideUsage bool

	// Rules are the rules of the provider. Only FinishReasons, UsagePath and NoDone apply here.
	Rules ResponseRules

	// ID replaces the id of every chunk, for a stream that continues another: official
	// clients reject chunks whose id changes. Empty leaves the ids unchanged.
	ID string

	// CollectText collects the text of a chat in StreamEnd.Text, so that the stream can be
	// continued on another target.
	CollectText bool
}

// Stream watches the event stream of one attempt: it counts events, reads the usage and detects the
// end. Only one goroutine may use it.
type Stream struct {
	opt    StreamOptions
	split  splitter
	watch  eventInspector
	change eventRewriter
	plain  pattern
	out    []byte
	joined []byte
	mid    bool // the bytes relayed so far end inside an event
	held   bool // no byte of the unfinished event was relayed: it may be an error
	fixes  []fix
	blank  bool // Lines: the blank line after the last event is already written
}

// NewStream returns a Stream. It starts nothing and acquires no resource.
func NewStream(o StreamOptions) *Stream {
	return &Stream{opt: o, split: splitter{framing: o.Framing}, watch: newWatch(&o), change: newChanger(&o)}
}

// holds reports whether an event must be complete before it is relayed: it may be changed, or
// another target may have to continue after it.
func (s *Stream) holds() bool {
	return s.change.enabled || s.opt.CollectText || s.opt.Framing == Lines
}

// Feed takes the bytes of one upstream read and returns the bytes to relay now.
//
// In the plain case it returns p itself: it copies, holds back and allocates nothing. If events
// may be changed (HideUsage, ID, Rules, Framing Lines) or text is collected, it returns complete
// events immediately. It holds the beginning of the next event until its end arrives, up to 1
// MiB. A larger event is relayed unchanged as it arrives. The result is valid until the next
// call.
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
		drop, data = false, upstreamerror.WithCode(s.opt.Endpoint, e.name, orData(data, e))
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

// orData returns the changed data of an event, or its original data if changed is nil.
func orData(changed []byte, e event) []byte {
	if changed == nil {
		return e.data
	}
	return changed
}

// line reports whether a line is a blank one that is already written.
func (s *Stream) line(e event) bool {
	again := s.blank && e.data == nil && e.name == nil
	s.blank = false
	return again
}

// StreamEnd is the outcome of a stream.
type StreamEnd struct {
	// Tail contains the bytes that must still be relayed; it is empty in the plain case. The
	// caller owns it.
	Tail []byte

	// Done reports that the last event of the surface arrived: [DONE], response.completed and
	// similar ones, message_stop, transcript.text.done. A stream that ended neither Done nor
	// Failed was cut off by the upstream.
	Done bool

	// Finished reports that a chunk with a finish_reason arrived (chat and completions). The
	// text is then complete even if the stream was cut off afterwards.
	Finished bool

	// Mid reports that the relayed bytes end inside an event. A blank line must precede anything
	// else that is written.
	Mid bool

	// Failed reports that the upstream sent an error in the stream. UpstreamError is its text
	// for the log, at most 1 KiB.
	Failed        bool
	UpstreamError string
	Status        int // HTTP status of the error: 429; 500 if unknown

	// Sequence is the number of the next event of a response; 0 on other surfaces.
	Sequence int64

	Usage  llm.Usage
	Model  string // as the upstream named it
	ID     string // of the first chunks
	Events int    // number of events with data

	// Text is the chat's text so far if StreamOptions.CollectText is set. TextOnly reports that
	// nothing else arrived (tool calls, reasoning, a second choice, over 1 MiB), so that
	// another target can continue it.
	Text     string
	TextOnly bool
}

// Failure returns the error that the provider has sent in the stream so far, and its HTTP status.
// failed is false if there is no error.
func (s *Stream) Failure() (message string, status int, failed bool) {
	return s.watch.failure, s.watch.status, s.watch.failed
}

// Counted reports whether usage arrived with that error or after it. The usage is then all that the
// provider counts.
func (s *Stream) Counted() bool { return s.watch.counted }

// End closes the stream. Call it once, after the last Feed. An event without its end counts if its
// data is complete.
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
		Usage: w.counts.Usage(), Model: w.model, ID: w.id, Events: w.events,
		Text: string(w.text), TextOnly: s.opt.CollectText && !w.noText,
	}
}

// last processes an event that the end of the stream cut off. If events are held back, it drops an
// incomplete one, as readers of such streams do.
func (s *Stream) last(pc splitEvent) {
	if pc.large {
		s.watch.tail(pc.all)
		return
	}
	e := parse(pc.all, &s.joined)
	complete := isDone(e.data) || jsonedit.Valid(e.data) || string(e.name) == upstreamerror.EventName && len(e.data) > 0
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
