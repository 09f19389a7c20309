package cohere

import (
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// NewDecoder makes the decoder of a stream of /v2/chat.
func (chat) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &events{} }

// events reads one stream. Of text and thoughts one block is open at a time; it is
// closed when something else begins, because citations come behind the end of their
// content too.
// Source: https://docs.cohere.com/v2/docs/streaming, read 2026-11;
// contract/provider-transforms.md 6.3.
type events struct {
	events     dialect.EventReader
	id         string
	started    bool
	ended      bool
	useful     bool         // there is more than thoughts and blank texts
	blocks     int          // begun so far
	open       bool         // the block at blocks-1 holds text or thoughts and is open
	part       llm.PartKind // of it
	calls      map[int]int  // places of open tool calls to their blocks
	usage      llm.Usage
	surrogates dialect.SurrogateJoiner
	ev         llm.Event
}

// Feed reads what came.
func (d *events) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, func(_, data []byte) error { return d.event(data, emit) })
}

// Close ends the reading. A stream without message-end was cut.
func (d *events) Close(emit func(*llm.Event)) error {
	return d.events.Close(func(_, data []byte) error { return d.event(data, emit) })
}

func (d *events) send(emit func(*llm.Event), ev llm.Event) {
	if ev.Kind == llm.EventBlock || ev.Kind == llm.EventLogprobs {
		d.start(emit)
	}
	d.ev = ev
	d.surrogates.Event(&d.ev, emit)
}

func (d *events) event(data []byte, emit func(*llm.Event)) error {
	if d.ended || dialect.Done(data) {
		return nil
	}
	if !splice.Valid(data) {
		return fault.New(fault.UpstreamInvalid, "an event of the provider's stream is not a JSON object")
	}
	kind, _ := splice.Find(data, "type")
	message, _ := splice.Find(data, "delta", "message")
	switch string(kind) {
	case `"message-start"`:
		d.id = splice.Text(data, "id")
	case `"content-start"`, `"content-delta"`:
		d.content(message, emit)
		d.logprobs(data, emit)
	case `"tool-plan-delta"`:
		d.text(llm.TextPart, message, "tool_plan", emit)
	case `"tool-call-start"`:
		d.call(eventIndex(data), message, emit)
	case `"tool-call-delta"`:
		d.arguments(eventIndex(data), message, emit)
	case `"tool-call-end"`:
		d.shutCall(eventIndex(data), emit)
	case `"citation-start"`:
		d.citation(message, emit)
	case `"message-end"`:
		d.end(data, emit)
	default:
		if f, ok := dialect.EventFault(data); ok {
			d.ended = true
			d.send(emit, f)
		}
	}
	return nil
}

// start begins the answer, once something is said: an error may come first.
func (d *events) start(emit func(*llm.Event)) {
	if !d.started {
		d.started = true
		d.send(emit, llm.Event{Kind: llm.EventStart, ID: d.id})
	}
}

// content takes the beginning of a content or a piece of it.
func (d *events) content(message []byte, emit func(*llm.Event)) {
	raw, _ := splice.Find(message, "content")
	if _, ok := splice.Find(raw, "thinking"); ok {
		d.text(llm.ReasoningPart, raw, "thinking", emit)
		return
	}
	d.text(llm.TextPart, raw, "text", emit)
}

// text takes a piece of text that stands in raw under that name; of an empty one
// nothing is told.
func (d *events) text(part llm.PartKind, raw []byte, name string, emit func(*llm.Event)) {
	val, _ := splice.Find(raw, name)
	s := dialect.DecodeFragment(val)
	if s == "" {
		return
	}
	if !d.open || d.part != part {
		d.shut(emit)
		d.open, d.part = true, part
		d.blocks++
		d.send(emit, llm.Event{Kind: llm.EventBlock, Block: d.blocks - 1, Part: part})
	}
	d.useful = d.useful || part == llm.TextPart && !dialect.IsBlank(s)
	d.send(emit, llm.Event{Kind: llm.EventText, Block: d.blocks - 1, Part: part, Text: s})
}

func (d *events) shut(emit func(*llm.Event)) {
	if d.open {
		d.open = false
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Block: d.blocks - 1, Part: d.part})
	}
}

func (d *events) logprobs(data []byte, emit func(*llm.Event)) {
	raw, ok := splice.Find(data, "logprobs")
	if !ok || raw[0] != '{' {
		return
	}
	list := logprobs(append(append([]byte{'['}, raw...), ']'))
	d.send(emit, llm.Event{Kind: llm.EventLogprobs, Raw: list})
}

// call begins a tool call. Tool_calls is one object, by other accounts a list of one.
func (d *events) call(index int, message []byte, emit func(*llm.Event)) {
	d.shut(emit)
	d.shutCall(index, emit)
	if d.calls == nil {
		d.calls = map[int]int{}
	}
	d.useful = true
	d.calls[index] = d.blocks
	d.blocks++
	id, name, arguments := readCall(one(message, "tool_calls"))
	d.send(emit, llm.Event{Kind: llm.EventBlock, Block: d.calls[index], Part: llm.CallPart, ID: id, Name: name})
	d.emitArguments(index, arguments, emit)
}

func (d *events) arguments(index int, message []byte, emit func(*llm.Event)) {
	args, _ := splice.Find(one(message, "tool_calls"), "function", "arguments")
	d.emitArguments(index, dialect.DecodeFragment(args), emit)
}

func (d *events) emitArguments(index int, s string, emit func(*llm.Event)) {
	if block, ok := d.calls[index]; ok && s != "" {
		d.send(emit, llm.Event{Kind: llm.EventArguments, Block: block, Part: llm.CallPart, Text: s})
	}
}

func (d *events) shutCall(index int, emit func(*llm.Event)) {
	if block, ok := d.calls[index]; ok {
		delete(d.calls, index)
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Block: block, Part: llm.CallPart})
	}
}

// citation tells a source of the text that is open.
func (d *events) citation(message []byte, emit func(*llm.Event)) {
	raw := one(message, "citations")
	if d.open && d.part == llm.TextPart && len(raw) > 0 {
		d.send(emit, llm.Event{Kind: llm.EventCitation, Block: d.blocks - 1, Part: llm.TextPart, Name: "cohere", Raw: raw})
	}
}

// end closes what is open and tells the reason and the usage, or the error that ended
// the answer.
func (d *events) end(data []byte, emit func(*llm.Event)) {
	d.shut(emit)
	for index := 0; len(d.calls) > 0; index++ {
		d.shutCall(index, emit)
	}
	d.ended = true
	delta, _ := splice.Find(data, "delta")
	word, reason := splice.Text(delta, "finish_reason"), splice.Text(delta, "error")
	text, failed := failures[word]
	failed = failed && !d.useful
	if !failed && reason == "" {
		d.start(emit)
	}
	spent, _ := splice.Find(delta, "usage")
	if d.usage = usage(spent); d.usage.Reported {
		d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
	}
	switch {
	case reason != "":
		d.send(emit, llm.Event{Kind: llm.EventFault, Text: reason, Status: 500})
	case failed:
		d.send(emit, dialect.EmptyTurnEvent(word, text))
	default:
		d.send(emit, llm.Event{Kind: llm.EventFinish, Finish: finishOf(word), Text: word})
		d.send(emit, llm.Event{Kind: llm.EventEnd})
	}
}

// maxCalls is more calls than a model makes at a time; what is numbered beyond counts
// as the first.
const maxCalls = 1 << 10

// eventIndex is the place that an event speaks of.
func eventIndex(data []byte) int {
	raw, _ := splice.Find(data, "index")
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 || n >= maxCalls {
		return 0
	}
	return n
}

// one is a member that is an object, or the first of a list of them.
func one(raw []byte, name string) []byte {
	val, _ := splice.Find(raw, name)
	for first := range splice.Elements(val) {
		return first
	}
	return val
}
