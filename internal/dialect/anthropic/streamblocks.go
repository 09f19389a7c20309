package anthropic

import (
	"cmp"
	"strconv"

	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Limits of the memory for one stream: the number of blocks in a response, and the bytes of
// incomplete blocks.
const (
	maxBlocks       = 16384
	maxPendingBytes = 32 << 20
)

// holder buffers a block that only Anthropic supports: a call of a built-in tool, or its
// result.
type holder struct {
	start []byte // the block in its start event
	key   string // name of the member that the deltas form
	value []byte
	text  bool // the member is a string
}

// begin reads the start of a block. Blocks start in the order of their indexes.
func (d *reader) begin(data []byte) error {
	if len(d.blocks) == maxBlocks {
		return fault.New(fault.UpstreamInvalid, "the provider response has too many blocks")
	}
	index := len(d.blocks)
	raw := found(data, "content_block")
	b := openBlock{open: true, part: llm.OpaquePart, index: indexOf(data, index)}
	ev := llm.Event{Kind: llm.EventBlock, Block: index}
	switch string(found(raw, "type")) {
	case `"text"`:
		ev.Part = llm.TextPart
	case `"thinking"`:
		ev.Part = llm.ReasoningPart
	case `"redacted_thinking"`:
		ev.Part, ev.Name, ev.Text = llm.SealedPart, signatures.ClaudeSigner, jsonedit.Text(raw, "data")
	case `"tool_use"`:
		ev.Part, ev.ID, ev.Name = llm.CallPart, jsonedit.Text(raw, "id"), jsonedit.Text(raw, "name")
	default:
		b.held = &holder{start: append([]byte(nil), raw...)}
		d.pending += len(raw)
		d.blocks = append(d.blocks, b)
		return d.bounded()
	}
	b.part = ev.Part
	d.blocks = append(d.blocks, b)
	d.send(ev)
	d.emitInitialContent(index, raw)
	return d.bounded()
}

// emitInitialContent emits the content that the start event of a block contains.
func (d *reader) emitInitialContent(index int, raw []byte) {
	switch b := &d.blocks[index]; b.part {
	case llm.TextPart:
		d.emitDelta(llm.EventText, index, found(raw, "text"))
		for c := range jsonedit.Elements(found(raw, "citations")) {
			d.citation(index, c)
		}
	case llm.ReasoningPart:
		d.emitDelta(llm.EventText, index, found(raw, "thinking"))
		d.emitDelta(llm.EventSignature, index, found(raw, "signature"))
	case llm.CallPart:
		if input := found(raw, "input"); isObject(input) && string(input) != "{}" {
			b.input = append([]byte(nil), input...)
			d.pending += len(input)
		}
	default:
	}
}

// emitDelta emits a text delta, unless it is empty.
func (d *reader) emitDelta(kind llm.EventKind, index int, raw []byte) {
	s := surrogates.DecodeFragment(raw)
	if s == "" {
		return
	}
	ev := llm.Event{Kind: kind, Block: index, Part: d.blocks[index].part, Text: s}
	if kind == llm.EventSignature {
		ev.Name = signatures.ClaudeSigner
	}
	d.send(ev)
}

func (d *reader) citation(index int, raw []byte) {
	d.send(llm.Event{Kind: llm.EventCitation, Block: index, Part: d.blocks[index].part, Name: shapeName, Raw: raw})
}

// indexOf returns the block index of an event, or otherwise when the event does not have one.
func indexOf(data []byte, otherwise int) int {
	if i, err := strconv.Atoi(string(found(data, "index"))); err == nil {
		return i
	}
	return otherwise
}

// findOpenBlock returns the block of an event, false if that block is not open.
func (d *reader) findOpenBlock(data []byte) (int, bool) {
	index := indexOf(data, -1)
	for i := len(d.blocks) - 1; i >= 0; i-- {
		if b := &d.blocks[i]; b.open && b.index == index {
			return i, true
		}
	}
	return 0, false
}

func (d *reader) delta(data []byte) error {
	index, ok := d.findOpenBlock(data)
	if !ok {
		return fault.New(fault.UpstreamInvalid, "the provider sent a delta for a content block that was not started")
	}
	b, delta := &d.blocks[index], found(data, "delta")
	typ := string(found(delta, "type"))
	if b.held != nil {
		d.pending += b.held.take(typ, delta)
		return d.bounded()
	}
	switch typ {
	case `"text_delta"`:
		d.emitDelta(llm.EventText, index, found(delta, "text"))
	case `"thinking_delta"`:
		d.emitDelta(llm.EventText, index, found(delta, "thinking"))
	case `"signature_delta"`:
		d.emitDelta(llm.EventSignature, index, found(delta, "signature"))
	case `"citations_delta"`:
		d.citation(index, found(delta, "citation"))
	case `"input_json_delta"`:
		raw := found(delta, "partial_json")
		b.hasArguments = b.hasArguments || len(raw) > 2
		d.emitDelta(llm.EventArguments, index, raw)
	}
	return nil
}

func (d *reader) bounded() error {
	if d.pending > maxPendingBytes {
		return fault.Newf(fault.UpstreamInvalid, "the provider sent more than %d bytes of unfinished blocks", maxPendingBytes)
	}
	return nil
}

// stop ends a block. A call without arguments gets an empty object.
func (d *reader) stop(data []byte) {
	index, ok := d.findOpenBlock(data)
	if !ok {
		return
	}
	b := &d.blocks[index]
	b.open = false
	switch {
	case b.held != nil:
		d.send(llm.Event{Kind: llm.EventBlock, Block: index, Part: b.part, Name: shapeName, Raw: b.held.assemble()})
		d.pending -= len(b.held.start) + len(b.held.value)
		b.held = nil
	case b.part == llm.CallPart && !b.hasArguments:
		d.send(llm.Event{Kind: llm.EventArguments, Block: index, Part: b.part, Text: cmp.Or(string(b.input), "{}")})
	}
	d.pending -= len(b.input)
	b.input = nil
	d.send(llm.Event{Kind: llm.EventBlockEnd, Block: index, Part: b.part})
}

// take appends a delta of a tool's input or of a summary. It returns the number of bytes by
// which the block has grown.
func (h *holder) take(typ string, delta []byte) int {
	was := len(h.value)
	switch typ {
	case `"input_json_delta"`:
		h.key = "input"
		h.value = appendText(h.value, found(delta, "partial_json"))
	case `"compaction_delta"`:
		h.key, h.text = "content", true
		h.value = appendText(h.value, found(delta, "content"))
	}
	return len(h.value) - was
}

func appendText(dst, raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return dst
	}
	return jsonedit.AppendUnquoted(dst, raw)
}

// assemble returns the block with its deltas merged in.
func (h *holder) assemble() []byte {
	if len(h.value) == 0 {
		return h.start
	}
	value := h.value
	if h.text {
		value = jsonedit.Quote(string(h.value))
	} else if !jsonedit.Valid(value) {
		return h.start
	}
	var doc jsonedit.Doc
	if jsonedit.Scan(h.start, &doc) != nil { // event has checked it already
		return h.start
	}
	return doc.Apply([]jsonedit.Edit{jsonedit.Set(h.key, value)})
}
