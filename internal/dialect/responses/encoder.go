package responses

import (
	"cmp"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/llm"
)

// NewEncoder makes the encoder of a stream of response events.
func (client) NewEncoder(a *dialect.ResponseContext) dialect.EventEncoder {
	return &encoder{a: a, out: outcome{a: a}}
}

// encoder writes the events of one stream. It stores the content, because the end of each
// item and the end of the response repeat it.
// Source: contract/provider-transforms.md 10.3.
type encoder struct {
	a        *dialect.ResponseContext
	out      outcome
	usage    llm.Usage
	items    itemList
	early    []byte // logprobs of a text that has not begun
	seq      int64
	begun    bool
	done     bool
	response []byte
}

// Response is the response object as the last event had it, when the gateway keeps it
// and the stream came to its end; otherwise nil.
func (e *encoder) Response() []byte { return e.response }

// Append writes an event as events of this shape.
func (e *encoder) Append(dst []byte, ev *llm.Event) []byte {
	if e.done {
		return dst
	}
	switch ev.Kind {
	case llm.EventStart:
		e.out.model = ev.Model
		return e.begin(dst)
	case llm.EventUsage:
		e.usage = *ev.Usage
		return dst
	case llm.EventExtra:
		if !e.a.Strict {
			e.out.extra = conversation.AddUnknownField(e.out.extra, ev)
		}
		return dst
	case llm.EventFault:
		return e.fault(dst, ev)
	case llm.EventEnd:
		return e.end(e.begin(dst))
	default:
		return e.appendEvent(e.begin(dst), ev)
	}
}

// appendEvent takes the events between the beginning and the end.
func (e *encoder) appendEvent(dst []byte, ev *llm.Event) []byte {
	switch ev.Kind {
	case llm.EventBlock:
		return e.block(dst, ev)
	case llm.EventText:
		return e.text(dst, ev)
	case llm.EventArguments:
		return e.arguments(dst, ev)
	case llm.EventSignature:
		return e.signature(dst, ev)
	case llm.EventMedia:
		return e.media(dst, ev)
	case llm.EventCitation:
		return e.citation(dst, ev)
	case llm.EventLogprobs:
		e.logprobs(ev)
		return dst
	case llm.EventBlockEnd:
		return e.blockEnd(dst, ev)
	case llm.EventFinish:
		e.out.finish = max(e.out.finish, endOf(ev.Finish))
		return e.finish(dst, ev.Choice, endOf(ev.Finish).status())
	default:
		return dst
	}
}

// open begins an event. The caller closes the object.
func (e *encoder) open(dst []byte, kind string) jsonwriter.Writer {
	dst = append(dst, "event: "...)
	dst = append(dst, kind...)
	dst = append(dst, "\ndata: "...)
	w := jsonwriter.AppendTo(dst)
	w.Open('{')
	w.Str("type", kind)
	w.Int("sequence_number", e.seq)
	e.seq++
	return w
}

func shut(w *jsonwriter.Writer) []byte {
	w.Close('}')
	return append(w.B, "\n\n"...)
}

func (e *encoder) begin(dst []byte) []byte {
	if e.begun {
		return dst
	}
	e.begun = true
	e.out.running, e.out.output = true, []byte("[]")
	for _, kind := range [...]string{"response.created", "response.in_progress"} {
		w := e.open(dst, kind)
		w.Key("response")
		e.out.append(&w)
		dst = shut(&w)
	}
	e.out.running = false
	return dst
}

// end writes the last event.
func (e *encoder) end(dst []byte) []byte {
	for _, it := range e.items {
		dst = e.close(dst, it, e.out.finish.status())
	}
	return e.last(dst, "response."+e.out.finish.status())
}

// fault reports an error in the two ways that clients look for: an event of its own,
// and a response that failed, with what was said until then. Of a stream that has not
// begun the first is all, so that it can be told from one that has.
func (e *encoder) fault(dst []byte, ev *llm.Event) []byte {
	w := e.open(dst, "error")
	w.StrOrNull("code", cmp.Or(ev.ID, ev.Name)) // these events have no other field for the type
	w.Str("message", ev.Text)
	w.Raw("param", null)
	upstreamerror.WriteExtra(&w, ev.Raw)
	dst = shut(&w)
	if !e.begun {
		e.done = true
		return dst
	}
	e.out.finish, e.out.fault = broken, ev
	for _, it := range e.items {
		if it.status == "" {
			it.status = incomplete
		}
	}
	return e.last(dst, "response.failed")
}

func (e *encoder) last(dst []byte, kind string) []byte {
	e.done, e.out.usage = true, &e.usage
	var output jsonwriter.Writer
	output.Open('[')
	for _, it := range e.items {
		it.append(&output, false, e.a.Strict)
	}
	output.Close(']')
	e.out.output = output.B
	w := e.open(dst, kind)
	w.Key("response")
	start := len(w.B)
	e.out.append(&w)
	if e.out.a.Store && e.out.fault == nil { // a failed response is not stored
		e.response = slices.Clone(w.B[start:])
	}
	return shut(&w)
}
