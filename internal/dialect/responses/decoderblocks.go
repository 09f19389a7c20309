package responses

import (
	"cmp"
	"strings"

	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// find returns the index of an open block, or -1. part is -1 for items.
func (d *decoder) find(output, part int) int {
	for i := len(d.blocks) - 1; i >= 0; i-- {
		if b := &d.blocks[i]; b.output == output && b.part == part && !b.shut {
			return i
		}
	}
	return -1
}

// open returns the index of an open block. It begins the block if needed.
func (d *decoder) open(output, part int, kind llm.PartKind) int {
	if index := d.find(output, part); index >= 0 {
		return index
	}
	return d.start(llm.Event{Part: kind}, output, part)
}

// start begins a block and returns its index.
func (d *decoder) start(ev llm.Event, output, part int) int {
	d.blocks = append(d.blocks, block{output: output, part: part, kind: ev.Part})
	ev.Kind, ev.Block = llm.EventBlock, len(d.blocks)-1
	d.send(ev)
	return len(d.blocks) - 1
}

func (d *decoder) shut(index int) {
	b := &d.blocks[index]
	b.shut = true
	d.send(llm.Event{Kind: llm.EventBlockEnd, Block: index, Part: b.kind})
}

// emitText emits a fragment of a block as an event of that kind. It skips an empty text.
func (d *decoder) emitText(kind llm.EventKind, index int, text string) {
	if text == "" {
		return
	}
	b := &d.blocks[index]
	b.hasContent = true
	ev := llm.Event{Kind: kind, Block: index, Part: b.kind, Text: text}
	if kind == llm.EventSignature {
		ev.Name = shapeName
	}
	d.send(ev)
}

func (d *decoder) emitTextDelta(e *eventFields, kind llm.PartKind) {
	index := d.open(e.output, e.part, kind)
	d.emitText(llm.EventText, index, surrogates.DecodeFragment(e.delta))
	if len(e.logprobs) > 2 {
		d.send(llm.Event{Kind: llm.EventLogprobs, Raw: e.logprobs})
	}
}

func (d *decoder) argument(e *eventFields) {
	if index := d.find(e.output, -1); index >= 0 {
		d.emitText(llm.EventArguments, index, surrogates.DecodeFragment(e.delta))
	}
}

// emitReasoning emits a delta of the reasoning or of its summary. The parts of a summary become
// one text.
func (d *decoder) emitReasoning(e *eventFields) {
	index := d.find(e.output, -1)
	if index < 0 {
		index = d.start(llm.Event{Part: llm.ReasoningPart, ID: jsonedit.Text(e.data, "item_id")}, e.output, -1)
	}
	nth := e.summary
	if e.kind == reasoningDelta {
		nth = e.part
	}
	b := &d.blocks[index]
	if b.source != "" && b.source != e.kind {
		return
	}
	if nth > b.nth && b.hasContent {
		d.emitText(llm.EventText, index, partBreak)
	}
	b.nth, b.source = nth, e.kind
	d.emitText(llm.EventText, index, surrogates.DecodeFragment(e.delta))
}

// partDone ends a part of a message. It emits the text if no delta of it arrived.
func (d *decoder) partDone(e *eventFields) {
	p := readMessagePart(e.inner)
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart:
	default:
		return
	}
	index := d.find(e.output, e.part)
	if index < 0 {
		if d.had(e.output, e.part) || p.Text == "" {
			return
		}
		index = d.start(llm.Event{Part: p.Kind}, e.output, e.part)
	}
	if !d.blocks[index].hasContent {
		d.emitText(llm.EventText, index, p.Text)
	}
	d.shut(index)
}

// had reports whether a block was begun, even if it has ended.
func (d *decoder) had(output, part int) bool {
	for i := range d.blocks {
		if d.blocks[i].output == output && d.blocks[i].part == part {
			return true
		}
	}
	return false
}

// itemAdded begins the block of a tool call, whose name is needed immediately.
func (d *decoder) itemAdded(e *eventFields) {
	if p, ok := readItem(e.item); ok && p.Kind == llm.CallPart {
		d.call(e, &p)
	}
}

func (d *decoder) call(e *eventFields, p *llm.Part) int {
	d.called = true
	return d.start(llm.Event{Part: llm.CallPart, ID: p.Call.ID, Name: p.Call.Name}, e.output, -1)
}

// itemDone ends the open block of an item. It emits the content if no delta of it arrived.
func (d *decoder) itemDone(e *eventFields) {
	if jsonedit.Text(e.item, "type") == "message" {
		d.messageDone(e)
		return
	}
	index := d.find(e.output, -1)
	p, ok := readItem(e.item)
	if index < 0 && (!ok || d.had(e.output, -1)) {
		return
	}
	switch p.Kind {
	case llm.CallPart:
		if index < 0 {
			index = d.call(e, &p)
		}
		if !d.blocks[index].hasContent {
			d.emitText(llm.EventArguments, index, p.Call.Arguments)
		}
	case llm.ReasoningPart:
		index = d.reasoningDone(e, index, &p)
	case llm.ImagePart:
		index = d.start(llm.Event{Part: llm.ImagePart, ID: p.ID}, e.output, -1)
		d.send(llm.Event{Kind: llm.EventMedia, Block: index, Part: llm.ImagePart, Media: p.Media})
	default:
		index = d.start(llm.Event{Part: llm.OpaquePart, Name: shapeName, Raw: p.Raw}, e.output, -1)
	}
	d.shut(index)
}

func (d *decoder) reasoningDone(e *eventFields, index int, p *llm.Part) int {
	if index < 0 {
		index = d.start(llm.Event{Part: llm.ReasoningPart, ID: p.ID}, e.output, -1)
		d.emitText(llm.EventText, index, p.Text)
	}
	d.emitText(llm.EventSignature, index, p.Signature)
	return index
}

func (d *decoder) messageDone(e *eventFields) {
	content, _ := jsonedit.Find(e.item, "content")
	part := 0
	for val := range jsonedit.Elements(content) {
		inner := *e
		inner.part, inner.inner = part, val
		d.partDone(&inner)
		part++
	}
}

func (d *decoder) end(e *eventFields) {
	d.done = true
	for i := range d.blocks {
		if !d.blocks[i].shut {
			d.shut(i)
		}
	}
	finish, reason := finishOf(e.response, d.called)
	d.send(llm.Event{Kind: llm.EventFinish, Finish: finish, Text: reason})
	if u, _ := usage.Read(llm.CreateModelResponse, e.response, ""); u.Reported {
		d.send(llm.Event{Kind: llm.EventUsage, Usage: &u})
	}
	d.send(llm.Event{Kind: llm.EventEnd})
}

// unknownFault reads an error from an event whose type is missing or is not a type of responses.
func unknownFault(e *eventFields) (llm.Event, bool) {
	if strings.HasPrefix(e.kind, "response.") {
		return llm.Event{}, false
	}
	return upstreamerror.ReadEvent(e.data)
}

// fault emits an error that the provider reported: {"code":"…","message":"…"}. otherwise is the
// message for an error without one.
func (d *decoder) fault(e *eventFields, raw []byte, otherwise string) {
	d.done = true
	id, _ := jsonedit.Find(raw, "code")
	typ := jsonedit.Text(raw, "type")
	if typ == "error" {
		typ = ""
	}
	code := cmp.Or(jsonedit.Text(raw, "code"), typ)
	d.send(llm.Event{Kind: llm.EventFault, Text: cmp.Or(jsonedit.Text(raw, "message"), otherwise), Name: cmp.Or(typ, code, "server_error"), ID: upstreamerror.CodeText(id), Status: statusOf(code), Usage: upstreamerror.Usage(e.data)})
}

// statusOf returns the HTTP status that an error would have as a separate response.
func statusOf(code string) int {
	for _, s := range [...]struct {
		keyword string
		status  int
	}{{"rate_limit", 429}, {"quota", 429}, {"overloaded", 529}, {"invalid", 400}, {"context_length", 400}, {"policy", 400}, {"image", 400}, {"not_found", 404}, {"timeout", 408}} {
		if strings.Contains(code, s.keyword) {
			return s.status
		}
	}
	return 500
}
