package anthropic

import (
	"cmp"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/llm"
)

// NewEncoder returns the encoder of a streamed message. It belongs to one stream.
func (messages) NewEncoder(a *dialect.ResponseContext) dialect.EventEncoder {
	return &writer{a: a, id: "msg_" + a.ID, model: a.Call.Model}
}

// writer writes the events of one stream. Blocks are written one after the other: the events of a
// later block wait until the earlier blocks have ended.
// Source: contract/provider-transforms.md 9.4.
type writer struct {
	a       *dialect.ResponseContext
	id      string
	model   string
	started bool
	done    bool
	blocks  []*outBlock // blocks that have not ended, in their order; the first is being sent
	next    int64       // index of the next block
	held    int         // bytes that had to wait so far
	usage   llm.Usage
	finish  ended
	extra   []llm.Param
}

// outBlock is a block that is being written.
type outBlock struct {
	number int   // of the block in the llm events
	index  int64 // in the output
	part   llm.PartKind
	args   argumentEnd // of a tool call
	data   []byte      // of an image, which has no deltas
	held   []byte      // output that waits for the earlier blocks
	ended  bool
	// signature is the signature of a text. It is written after the text.
	signature string
	image     llm.Media // without its data
}

// Append appends the events of a streamed message for ev. Events of other choices than the first,
// and events after the end, add nothing.
func (w *writer) Append(dst []byte, ev *llm.Event) []byte {
	if w.done || ev.Choice != 0 {
		return dst
	}
	if ev.Kind == llm.EventFault {
		w.done = true
		return appendFault(dst, ev)
	}
	if ev.Kind == llm.EventUsage && !w.started { // an error may follow, and must be the first event
		w.usage = *ev.Usage
		return dst
	}
	if ev.Kind == llm.EventStart {
		w.id, w.model = messageID(ev.ID, w.a), cmp.Or(ev.Model, w.model)
		if ev.Usage != nil {
			w.usage = *ev.Usage
		}
	}
	dst = w.start(dst)
	switch ev.Kind {
	case llm.EventBlock:
		return w.block(dst, ev)
	case llm.EventText, llm.EventArguments, llm.EventSignature, llm.EventCitation, llm.EventMedia:
		return w.delta(dst, ev)
	case llm.EventBlockEnd:
		if b := w.find(ev.Block); b != nil {
			b.ended = true
		}
		return w.advance(dst)
	case llm.EventExtra:
		w.extra = conversation.AddUnknownField(w.extra, ev)
	case llm.EventFinish:
		w.finish.finish, w.finish.raw, w.finish.stop = ev.Finish, ev.Text, ev.Name
	case llm.EventUsage:
		w.usage = *ev.Usage
	case llm.EventEnd:
		return w.end(dst)
	default: // recordings and other content that a message cannot contain
	}
	return dst
}

// event begins an event: its name, and its data up to and including the type.
func event(dst []byte, name string) jsonwriter.Writer {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: "...)
	w := jsonwriter.AppendTo(dst)
	w.Open('{')
	w.Str("type", name)
	return w
}

func done(w *jsonwriter.Writer) []byte {
	w.Close('}')
	return append(w.B, "\n\n"...)
}

func (w *writer) start(dst []byte) []byte {
	if w.started {
		return dst
	}
	w.started = true
	e := event(dst, "message_start")
	e.Key("message").Open('{')
	writeHead(&e, w.id, w.model, w.a.Provider)
	e.Key("content").Open('[')
	e.Close(']')
	e.Raw("stop_reason", null)
	e.Raw("stop_sequence", null)
	u := w.usage
	u.OutputTokens, u.ReasoningTokens = 0, 0 // nothing of the response has been sent yet
	writeUsage(&e, &u, nil)
	e.Close('}')
	return done(&e)
}

func (w *writer) find(number int) *outBlock {
	for _, b := range w.blocks {
		if b.number == number && !b.ended {
			return b
		}
	}
	return nil
}

// block begins a block: in the output at once, or in the buffer of a block that waits.
func (w *writer) block(dst []byte, ev *llm.Event) []byte {
	switch ev.Part {
	case llm.TextPart, llm.RefusalPart, llm.ReasoningPart, llm.SealedPart, llm.CallPart:
	case llm.ImagePart:
		if w.a.Strict {
			return dst
		}
	case llm.OpaquePart:
		if ev.Name != shapeName {
			return dst
		}
	default:
		return dst
	}
	w.finish.refused = w.finish.refused || ev.Part == llm.RefusalPart
	b := &outBlock{number: ev.Block, index: w.next, part: ev.Part}
	w.next++
	w.blocks = append(w.blocks, b)
	if len(w.blocks) == 1 {
		return b.begin(dst, ev)
	}
	b.held = b.begin(nil, ev)
	return w.advance(dst)
}

// begin writes the start of a block. An image is written completely when it ends.
func (b *outBlock) begin(dst []byte, ev *llm.Event) []byte {
	if b.part == llm.ImagePart {
		return dst
	}
	e := event(dst, "content_block_start")
	e.Int("index", b.index)
	if b.part == llm.OpaquePart {
		e.Raw("content_block", ev.Raw)
		return done(&e)
	}
	e.Key("content_block").Open('{')
	switch b.part {
	case llm.ReasoningPart:
		e.Str("type", "thinking")
		e.Str("thinking", "")
		e.Str("signature", "")
	case llm.SealedPart:
		e.Str("type", "redacted_thinking")
		e.Str("data", ev.Text)
	case llm.CallPart:
		e.Str("type", "tool_use")
		e.Str("id", ev.ID)
		e.Str("name", ev.Name)
		e.Raw("input", []byte("{}"))
	default:
		e.Str("type", "text")
		e.Str("text", "")
	}
	e.Close('}')
	return done(&e)
}

// delta writes a delta of a block.
func (w *writer) delta(dst []byte, ev *llm.Event) []byte {
	b := w.find(ev.Block)
	if b == nil {
		return dst
	}
	if b == w.blocks[0] && b.part != llm.ImagePart {
		return b.appendDelta(dst, ev)
	}
	was := len(b.held) + len(b.data)
	b.held = b.appendDelta(b.held, ev)
	if w.held += len(b.held) + len(b.data) - was; w.held > maxPendingBytes {
		w.done = true
		return appendFault(dst, &llm.Event{Text: "the provider interleaves chunks of oversized blocks"})
	}
	return dst
}

func (b *outBlock) appendDelta(dst []byte, ev *llm.Event) []byte {
	typ, key := "text_delta", "text"
	switch {
	case ev.Kind == llm.EventArguments && b.part == llm.CallPart:
		typ, key = "input_json_delta", "partial_json"
		b.args.read(ev.Text)
	case ev.Kind == llm.EventMedia:
		b.writeImage(ev.Media)
		return dst
	case ev.Kind == llm.EventSignature && b.part == llm.TextPart:
		b.signature += ev.Text
		return dst
	case ev.Kind == llm.EventSignature && b.part == llm.ReasoningPart:
		typ, key = "signature_delta", "signature"
	case ev.Kind == llm.EventCitation && ev.Name == shapeName:
		typ, key = "citations_delta", "citation"
	case ev.Kind == llm.EventText && b.part == llm.ReasoningPart:
		typ, key = "thinking_delta", "thinking"
	case ev.Kind == llm.EventText && (b.part == llm.TextPart || b.part == llm.RefusalPart):
	default: // signatures of tool calls and foreign citations have no counterpart here
		return dst
	}
	e := event(dst, "content_block_delta")
	e.Int("index", b.index)
	e.Key("delta").Open('{')
	e.Str("type", typ)
	if key == "citation" {
		e.Raw(key, ev.Raw)
	} else {
		e.Str(key, ev.Text)
	}
	e.Close('}')
	return done(&e)
}

// advance ends the first block if it has ended, or if it is a tool call with complete arguments and
// a later block waits. Then it continues with the next block. Chat streams report the end of
// all tool calls only at the very end.
func (w *writer) advance(dst []byte) []byte {
	for len(w.blocks) > 0 {
		b := w.blocks[0]
		if !b.ended && (len(w.blocks) == 1 || b.part != llm.CallPart || !b.args.complete) {
			return dst
		}
		dst = w.signed(b.stop(dst), b)
		if w.blocks = w.blocks[1:]; len(w.blocks) > 0 {
			dst = append(dst, w.blocks[0].held...)
			w.blocks[0].held = nil
		}
	}
	return dst
}

// signed writes the signature of a text after it, as that of an empty reasoning block. It omits the
// signature if a later block already has the next index.
func (w *writer) signed(dst []byte, b *outBlock) []byte {
	if b.signature == "" || len(w.blocks) > 1 {
		return dst
	}
	s := &outBlock{index: w.next, part: llm.ReasoningPart}
	w.next++
	dst = s.begin(dst, &llm.Event{})
	dst = s.appendDelta(dst, &llm.Event{Kind: llm.EventSignature, Text: signatures.MarkText(b.signature)})
	return s.stop(dst)
}

// writeImage appends a part of an image to the block.
func (b *outBlock) writeImage(m *llm.Media) {
	b.image.MIME, b.image.URL = cmp.Or(b.image.MIME, m.MIME), cmp.Or(b.image.URL, m.URL)
	b.data = append(b.data, m.Data...)
}

// startImage writes the start of an image block, when the image is complete.
func (b *outBlock) startImage(dst []byte) []byte {
	if b.part != llm.ImagePart {
		return dst
	}
	b.image.Data = string(b.data)
	e := event(dst, "content_block_start")
	e.Int("index", b.index)
	writeImageBlock(e.Key("content_block"), &b.image)
	return done(&e)
}

func (b *outBlock) stop(dst []byte) []byte {
	dst = b.startImage(dst)
	e := event(dst, "content_block_stop")
	e.Int("index", b.index)
	return done(&e)
}

// end ends the open blocks and writes the stop reason and the usage.
func (w *writer) end(dst []byte) []byte {
	for _, b := range w.blocks {
		b.ended = true
	}
	dst = w.advance(dst)
	w.done = true
	e := event(dst, "message_delta")
	e.Key("delta").Open('{')
	writeStop(&e, &w.finish)
	inside, outside := sorted(w.extra)
	writeExtra(&e, inside, w.a.Strict)
	e.Close('}')
	writeUsage(&e, &w.usage, w.extra)
	writeExtra(&e, outside, w.a.Strict)
	dst = done(&e)
	e = event(dst, "message_stop")
	return done(&e)
}

// sorted separates the extra fields inside the delta from those next to it.
func sorted(list []llm.Param) (inside, outside []llm.Param) {
	for _, p := range list {
		if p.Name == "container" || p.Name == "stop_details" {
			inside = append(inside, p)
		} else {
			outside = append(outside, p)
		}
	}
	return inside, outside
}

// appendFault writes the last event of a stream that failed.
func appendFault(dst []byte, ev *llm.Event) []byte {
	e := event(dst, "error")
	e.Key("error").Open('{')
	e.Str("type", faultType(ev))
	e.Str("message", ev.Text)
	e.Opt("code", ev.ID)
	upstreamerror.WriteExtra(&e, ev.Raw)
	e.Close('}')
	return done(&e)
}

// faultType returns Anthropic's type of an error.
func faultType(ev *llm.Event) string {
	if _, known := statuses[ev.Name]; known {
		return ev.Name
	}
	for typ, status := range statuses {
		if status == ev.Status {
			return typ
		}
	}
	return "api_error"
}
