package responses

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewDecoder makes the decoder of a stream of response events.
func (upstream) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &decoder{} }

// decoder reads the events of one stream. Each part of a message is a block, and so is
// each other item.
// Source: https://platform.openai.com/docs/api-reference/responses-streaming, read 2026-11.
type decoder struct {
	events dialect.EventReader
	emit   func(*llm.Event)
	joiner surrogates.Joiner
	ev     llm.Event
	begun  bool
	done   bool
	called bool
	blocks []block // of the stream, in their order
}

// block is where a block of the hub comes from.
type block struct {
	output, part int // the item, and the part of its message; -1 for items
	kind         llm.PartKind
	shut         bool
	hasContent   bool   // something came of it
	nth          int    // the last part of a summary
	source       string // the events that thoughts are taken from: a provider may tell them twice
}

// Feed reads what came.
func (d *decoder) Feed(p []byte, emit func(*llm.Event)) error {
	d.emit = emit
	return d.events.Feed(p, d.event)
}

// Close reads an event whose blank line never came.
func (d *decoder) Close(emit func(*llm.Event)) error {
	d.emit = emit
	return d.events.Close(d.event)
}

func (d *decoder) event(_, data []byte) error {
	if d.done || dialect.Done(data) {
		return nil
	}
	if !jsonedit.Valid(data) {
		return fault.New(fault.UpstreamInvalid, "an event of the provider's stream is not a JSON object")
	}
	var e eventFields
	e.read(data)
	d.begin(&e)
	d.translateEvent(&e)
	return nil
}

// send hands out an event.
func (d *decoder) send(ev llm.Event) {
	d.ev = ev
	d.joiner.Event(&d.ev, d.emit)
}

// eventFields are the members of events that are looked at.
type eventFields struct {
	data                         []byte
	kind                         string
	output, part, summary        int
	delta, item, inner, response []byte
	logprobs, note               []byte
}

func (e *eventFields) read(data []byte) {
	e.data = data
	for name, val := range jsonedit.Members(data) {
		switch string(name) {
		case `"type"`:
			e.kind = kindOf(val)
		case `"output_index"`:
			e.output = number(val)
		case `"content_index"`:
			e.part = number(val)
		case `"summary_index"`:
			e.summary = number(val)
		case `"delta"`:
			e.delta = val
		case `"item"`:
			e.item = val
		case `"part"`:
			e.inner = val
		case `"response"`:
			e.response = val
		case `"logprobs"`:
			e.logprobs = val
		case `"annotation"`:
			e.note = val
		}
	}
}

// number reads an index. A value that is not a number counts as 0.
func number(raw []byte) int {
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' || n > 1<<20 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// kindOf returns the type of an event. It does not allocate for frequent types.
func kindOf(raw []byte) string {
	for _, k := range [...]string{textDelta, argumentsDelta, summaryDelta, reasoningDelta} {
		if len(raw) == len(k)+2 && string(raw[1:len(raw)-1]) == k {
			return k
		}
	}
	s, _ := jsonedit.Unquote(raw)
	return s
}

const (
	textDelta      = "response.output_text.delta"
	argumentsDelta = "response.function_call_arguments.delta"
	summaryDelta   = "response.reasoning_summary_text.delta"
	reasoningDelta = "response.reasoning_text.delta"
)

func (d *decoder) begin(e *eventFields) {
	if d.begun || !strings.HasPrefix(e.kind, "response.") {
		return
	}
	d.begun = true
	d.send(llm.Event{Kind: llm.EventStart, ID: jsonedit.Text(e.response, "id"), Model: jsonedit.Text(e.response, "model")})
}

// translateEvent turns one event into those of the hub. Events that only repeat what others said
// are left out.
func (d *decoder) translateEvent(e *eventFields) {
	switch e.kind {
	case textDelta:
		d.emitTextDelta(e, llm.TextPart)
	case "response.refusal.delta":
		d.emitTextDelta(e, llm.RefusalPart)
	case argumentsDelta, "response.custom_tool_call_input.delta":
		d.argument(e)
	case summaryDelta, reasoningDelta:
		d.emitReasoning(e)
	case "response.output_text.annotation.added":
		if len(e.note) > 0 {
			index := d.open(e.output, e.part, llm.TextPart)
			d.send(llm.Event{Kind: llm.EventCitation, Block: index, Part: llm.TextPart, Name: shapeName, Raw: e.note})
		}
	case "response.content_part.done":
		d.partDone(e)
	case "response.output_item.added":
		d.itemAdded(e)
	case "response.output_item.done":
		d.itemDone(e)
	case "response.completed", "response.incomplete":
		d.end(e)
	case "response.failed":
		raw, _ := jsonedit.Find(e.response, "error")
		d.fault(e, raw, "the provider cannot create the response")
	case "error":
		raw, nested := jsonedit.Find(e.data, "error")
		if !nested || jsonedit.IsNull(raw) {
			raw = e.data
		}
		d.fault(e, raw, "the provider reported an error")
	default:
		if f, ok := unknownFault(e); ok {
			d.done = true
			d.send(f)
		}
	}
}
