package cohere

import (
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewDecoder returns the decoder of one /v2/chat stream.
func (chat) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &events{} }

// events decodes one stream. At most one block of text or reasoning is open at a time. It is
// closed when other content starts, because citations may follow the end of their content.
// Source: https://docs.cohere.com/v2/docs/streaming, read 2026-11;
// contract/provider-transforms.md 6.3.
type events struct {
	events  dialect.EventReader
	id      string
	started bool
	ended   bool
	useful  bool         // the turn contains more than reasoning and blank text
	blocks  int          // number of blocks started so far
	open    bool         // the block at blocks-1 is an open text or reasoning block
	part    llm.PartKind // kind of that block
	calls   map[int]int  // index of an open tool call in Cohere's events to its block
	usage   llm.Usage
	joiner  surrogates.Joiner
	ev      llm.Event
}

// Feed reads the next bytes of the stream.
func (d *events) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, func(_, data []byte) error { return d.event(data, emit) })
}

// Close ends the stream. A stream without message-end was cut off.
func (d *events) Close(emit func(*llm.Event)) error {
	return d.events.Close(func(_, data []byte) error { return d.event(data, emit) })
}

func (d *events) send(emit func(*llm.Event), ev llm.Event) {
	if ev.Kind == llm.EventBlock || ev.Kind == llm.EventLogprobs {
		d.start(emit)
	}
	d.ev = ev
	d.joiner.Event(&d.ev, emit)
}

func (d *events) event(data []byte, emit func(*llm.Event)) error {
	if d.ended || dialect.Done(data) {
		return nil
	}
	if !jsonedit.Valid(data) {
		return fault.New(fault.UpstreamInvalid, "an event of the provider's stream is not a JSON object")
	}
	kind, _ := jsonedit.Find(data, "type")
	message, _ := jsonedit.Find(data, "delta", "message")
	switch string(kind) {
	case `"message-start"`:
		d.id = jsonedit.Text(data, "id")
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
		if f, ok := upstreamerror.ReadEvent(data); ok {
			d.ended = true
			d.send(emit, f)
		}
	}
	return nil
}

// start sends the start event before the first content. An error may come first.
func (d *events) start(emit func(*llm.Event)) {
	if !d.started {
		d.started = true
		d.send(emit, llm.Event{Kind: llm.EventStart, ID: d.id})
	}
}

// content handles the start of content or a fragment of it.
func (d *events) content(message []byte, emit func(*llm.Event)) {
	raw, _ := jsonedit.Find(message, "content")
	if _, ok := jsonedit.Find(raw, "thinking"); ok {
		d.text(llm.ReasoningPart, raw, "thinking", emit)
		return
	}
	d.text(llm.TextPart, raw, "text", emit)
}

// text sends the text fragment in the member name of raw. It ignores an empty fragment.
func (d *events) text(part llm.PartKind, raw []byte, name string, emit func(*llm.Event)) {
	val, _ := jsonedit.Find(raw, name)
	s := surrogates.DecodeFragment(val)
	if s == "" {
		return
	}
	if !d.open || d.part != part {
		d.shut(emit)
		d.open, d.part = true, part
		d.blocks++
		d.send(emit, llm.Event{Kind: llm.EventBlock, Block: d.blocks - 1, Part: part})
	}
	d.useful = d.useful || part == llm.TextPart && !conversation.IsBlank(s)
	d.send(emit, llm.Event{Kind: llm.EventText, Block: d.blocks - 1, Part: part, Text: s})
}

func (d *events) shut(emit func(*llm.Event)) {
	if d.open {
		d.open = false
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Block: d.blocks - 1, Part: d.part})
	}
}

func (d *events) logprobs(data []byte, emit func(*llm.Event)) {
	raw, ok := jsonedit.Find(data, "logprobs")
	if !ok || raw[0] != '{' {
		return
	}
	list := logprobs(append(append([]byte{'['}, raw...), ']'))
	d.send(emit, llm.Event{Kind: llm.EventLogprobs, Raw: list})
}

// call starts a tool call. Sources differ on tool_calls: it is one object, or a list with one
// object.
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
	args, _ := jsonedit.Find(one(message, "tool_calls"), "function", "arguments")
	d.emitArguments(index, surrogates.DecodeFragment(args), emit)
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

// citation sends a citation of the open text block. It ignores others.
func (d *events) citation(message []byte, emit func(*llm.Event)) {
	raw := one(message, "citations")
	if d.open && d.part == llm.TextPart && len(raw) > 0 {
		d.send(emit, llm.Event{Kind: llm.EventCitation, Block: d.blocks - 1, Part: llm.TextPart, Name: "cohere", Raw: raw})
	}
}

// end closes all open blocks. It sends the usage and the finish reason, or the error that ended
// the response.
func (d *events) end(data []byte, emit func(*llm.Event)) {
	d.shut(emit)
	for index := 0; len(d.calls) > 0; index++ {
		d.shutCall(index, emit)
	}
	d.ended = true
	delta, _ := jsonedit.Find(data, "delta")
	word, reason := jsonedit.Text(delta, "finish_reason"), jsonedit.Text(delta, "error")
	text, failed := failures[word]
	failed = failed && !d.useful
	if !failed && reason == "" {
		d.start(emit)
	}
	spent, _ := jsonedit.Find(delta, "usage")
	if d.usage = readUsage(spent); d.usage.Reported {
		d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
	}
	switch {
	case reason != "":
		d.send(emit, llm.Event{Kind: llm.EventFault, Text: reason, Status: 500})
	case failed:
		d.send(emit, conversation.EmptyTurnEvent(word, text))
	default:
		d.send(emit, llm.Event{Kind: llm.EventFinish, Finish: finishOf(word), Text: word})
		d.send(emit, llm.Event{Kind: llm.EventEnd})
	}
}

// maxCalls is more than the number of calls a model makes at a time. A higher index is read as 0.
const maxCalls = 1 << 10

// eventIndex returns the index in an event, such as the index of a tool call. An invalid index is
// 0.
func eventIndex(data []byte) int {
	raw, _ := jsonedit.Find(data, "index")
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 || n >= maxCalls {
		return 0
	}
	return n
}

// one returns a member that is an object, or the first element if it is a list.
func one(raw []byte, name string) []byte {
	val, _ := jsonedit.Find(raw, name)
	for first := range jsonedit.Elements(val) {
		return first
	}
	return val
}
