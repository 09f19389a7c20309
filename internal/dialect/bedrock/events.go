package bedrock

import (
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// streamReader decodes one ConverseStream.
// Source: contract/provider-transforms.md 3.5;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html, read 2026-11.
type streamReader struct {
	frames   dialect.FrameReader
	started  bool
	finished bool
	ended    bool
	useful   bool   // the turn contains more than reasoning and blank text
	failing  string // stop reason of a failed turn without such content; "" if the turn did not fail
	blocks   int    // number of blocks started so far
	open     []openBlock
	usage    llm.Usage
	joiner   surrogates.Joiner
	ev       llm.Event
}

// openBlock is a content block that has started but not ended.
type openBlock struct {
	index int // index in Amazon's events
	block int // index in our events
	part  llm.PartKind
	mime  string // MIME type of an image
}

// maxOpenBlocks is the maximum number of open blocks at a time. Models use one.
const maxOpenBlocks = 256

// Feed reads the next bytes of the stream.
func (d *streamReader) Feed(p []byte, emit func(*llm.Event)) error {
	return d.frames.Feed(p, func(f *dialect.Frame) error { return d.frame(f, emit) })
}

// Close ends the stream. A stream that reported its stop reason is complete even without usage.
func (d *streamReader) Close(emit func(*llm.Event)) error {
	if err := d.frames.Close(); err != nil {
		return err
	}
	if d.finished {
		d.end(emit)
	}
	return nil
}

func (d *streamReader) send(emit func(*llm.Event), ev llm.Event) {
	d.ev = ev
	d.joiner.Event(&d.ev, emit)
}

func (d *streamReader) frame(f *dialect.Frame, emit func(*llm.Event)) error {
	if d.ended {
		return nil
	}
	if e, ok := f.Exception(); ok {
		d.ended = true
		d.send(emit, llm.Event{Kind: llm.EventFault, Text: e.Message, Name: e.Name, Status: e.Status, Usage: upstreamerror.Usage(f.Payload)})
		return nil
	}
	if !jsonedit.Valid(f.Payload) {
		return fault.New(fault.UpstreamInvalid, "the provider's event stream contains an event that is not a JSON object")
	}
	if string(f.Name) == "messageStart" { // nothing is sent until the stream is known to contain a response
		return nil
	}
	if string(f.Name) == "messageStop" && !d.useful && d.fails(f.Payload) {
		return nil
	}
	if d.failing == "" {
		d.start(emit)
	}
	switch string(f.Name) {
	case "contentBlockStart":
		return d.blockStart(f.Payload, emit)
	case "contentBlockDelta":
		return d.delta(f.Payload, emit)
	case "contentBlockStop":
		d.shut(indexOf(f.Payload), emit)
	case "messageStop":
		d.stop(f.Payload, emit)
	case "metadata":
		d.metadata(f.Payload, emit)
	}
	return nil
}

// fails reports whether a turn without content stopped because of a failure. The error is sent
// after the usage, which follows this event.
func (d *streamReader) fails(raw []byte) bool {
	reason := jsonedit.Text(raw, "stopReason")
	if failures[reason] == "" {
		return false
	}
	d.failing, d.finished = reason, true
	return true
}

func (d *streamReader) start(emit func(*llm.Event)) {
	if !d.started {
		d.started = true
		d.send(emit, llm.Event{Kind: llm.EventStart})
	}
}

func indexOf(raw []byte) int {
	val, _ := jsonedit.Find(raw, "contentBlockIndex")
	n, err := strconv.Atoi(string(val))
	if err != nil {
		return 0
	}
	return n
}

// blockStart starts a tool call or an image. Text and reasoning blocks start with their first
// delta.
func (d *streamReader) blockStart(raw []byte, emit func(*llm.Event)) error {
	index := indexOf(raw)
	start, _ := jsonedit.Find(raw, "start")
	if use, ok := jsonedit.Find(start, "toolUse"); ok && jsonedit.Text(use, "type") == "" {
		id := jsonedit.Text(use, "toolUseId")
		if id == "" {
			id = ident.NewObjectID("call_")
		}
		_, err := d.begin(index, llm.Event{Part: llm.CallPart, ID: id, Name: jsonedit.Text(use, "name")}, emit)
		return err
	}
	if image, ok := jsonedit.Find(start, "image"); ok {
		b, err := d.begin(index, llm.Event{Part: llm.ImagePart}, emit)
		if err == nil {
			b.mime = "image/" + jsonedit.Text(image, "format")
		}
		return err
	}
	return nil
}

// begin opens a block. It first ends a block that is open at the same index.
func (d *streamReader) begin(index int, ev llm.Event, emit func(*llm.Event)) (*openBlock, error) {
	d.shut(index, emit)
	if len(d.open) == maxOpenBlocks {
		return nil, fault.Newf(fault.UpstreamInvalid, "the provider's event stream has more than %d open blocks", maxOpenBlocks)
	}
	d.open = append(d.open, openBlock{index: index, block: d.blocks, part: ev.Part})
	ev.Kind, ev.Block = llm.EventBlock, d.blocks
	d.useful = d.useful || ev.Part != llm.TextPart && ev.Part != llm.ReasoningPart && ev.Part != llm.SealedPart
	d.blocks++
	d.send(emit, ev)
	return &d.open[len(d.open)-1], nil
}

// ensureBlock returns the open block with this index and kind. It opens one if there is none.
func (d *streamReader) ensureBlock(index int, part llm.PartKind, emit func(*llm.Event)) (*openBlock, error) {
	for i := range d.open {
		if b := &d.open[i]; b.index == index && b.part == part {
			return b, nil
		}
	}
	return d.begin(index, llm.Event{Part: part}, emit)
}

// shut ends the open block with this index, if any.
func (d *streamReader) shut(index int, emit func(*llm.Event)) {
	for i := range d.open {
		if b := d.open[i]; b.index == index {
			d.open = append(d.open[:i], d.open[i+1:]...)
			d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Block: b.block, Part: b.part})
			return
		}
	}
}

func (d *streamReader) delta(raw []byte, emit func(*llm.Event)) (err error) {
	index := indexOf(raw)
	delta, _ := jsonedit.Find(raw, "delta")
	for name, val := range jsonedit.Members(delta) {
		switch string(name) {
		case `"text"`:
			err = d.emitDelta(index, llm.EventText, llm.TextPart, val, emit)
		case `"toolUse"`:
			err = d.input(index, val, emit)
		case `"reasoningContent"`:
			err = d.reasoning(index, val, emit)
		case `"citation"`:
			var b *openBlock
			if b, err = d.ensureBlock(index, llm.TextPart, emit); err == nil {
				d.send(emit, llm.Event{Kind: llm.EventCitation, Block: b.block, Part: llm.TextPart, Raw: val, Name: shapeName})
			}
		case `"image"`:
			var b *openBlock
			if b, err = d.ensureBlock(index, llm.ImagePart, emit); err == nil {
				data, _ := jsonedit.Find(val, "source", "bytes")
				d.send(emit, llm.Event{Kind: llm.EventMedia, Block: b.block, Part: llm.ImagePart, Media: &llm.Media{MIME: b.mime, Data: plain(data)}})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// emitDelta sends a text fragment. An empty fragment only opens the block.
func (d *streamReader) emitDelta(index int, kind llm.EventKind, part llm.PartKind, raw []byte, emit func(*llm.Event)) error {
	b, err := d.ensureBlock(index, part, emit)
	if err != nil {
		return err
	}
	if s := surrogates.DecodeFragment(raw); s != "" {
		ev := llm.Event{Kind: kind, Block: b.block, Part: part, Text: s}
		d.useful = d.useful || part == llm.TextPart && !conversation.IsBlank(s)
		if kind == llm.EventSignature {
			ev.Name = signatures.ClaudeSigner
		}
		d.send(emit, ev)
	}
	return nil
}

// input sends a fragment of a tool call's arguments. Arguments of tools that Amazon runs have no
// open block and are dropped.
func (d *streamReader) input(index int, raw []byte, emit func(*llm.Event)) error {
	for i := range d.open {
		if d.open[i].index == index && d.open[i].part == llm.CallPart {
			val, _ := jsonedit.Find(raw, "input")
			return d.emitDelta(index, llm.EventArguments, llm.CallPart, val, emit)
		}
	}
	return nil
}

// reasoning sends reasoning content. Redacted reasoning, which only Amazon can read, arrives
// complete; each item is a block.
func (d *streamReader) reasoning(index int, raw []byte, emit func(*llm.Event)) (err error) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"text"`:
			err = d.emitDelta(index, llm.EventText, llm.ReasoningPart, val, emit)
		case `"signature"`:
			err = d.emitDelta(index, llm.EventSignature, llm.ReasoningPart, val, emit)
		case `"redactedContent"`:
			_, err = d.begin(index, llm.Event{Part: llm.SealedPart, Name: signatures.ClaudeSigner, Text: plain(val)}, emit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *streamReader) stop(raw []byte, emit func(*llm.Event)) {
	for len(d.open) > 0 {
		d.shut(d.open[0].index, emit)
	}
	more, _ := jsonedit.Find(raw, "additionalModelResponseFields")
	if len(more) > 0 && string(more) != "null" {
		d.send(emit, llm.Event{Kind: llm.EventExtra, Name: "additionalModelResponseFields", Raw: more})
	}
	if d.finished {
		return
	}
	d.finished = true
	reason := jsonedit.Text(raw, "stopReason")
	d.send(emit, llm.Event{Kind: llm.EventFinish, Finish: finishOf(reason), Text: reason, Name: jsonedit.Text(more, "stop_sequence")})
}

// metadata sends the usage and the service tier. It is the last event of a stream.
func (d *streamReader) metadata(raw []byte, emit func(*llm.Event)) {
	tier, tiered := jsonedit.Find(raw, "serviceTier", "type")
	if used, ok := jsonedit.Find(raw, "usage"); ok {
		d.usage = readUsage(used)
		d.usage.Tier = usage.Tier(tier)
		d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
	}
	if tiered && d.failing == "" {
		d.send(emit, llm.Event{Kind: llm.EventExtra, Name: "service_tier", Raw: tier})
	}
	if d.finished {
		d.end(emit)
	}
}

func (d *streamReader) end(emit func(*llm.Event)) {
	switch {
	case d.ended:
	case d.failing != "":
		d.ended = true
		d.send(emit, conversation.EmptyTurnEvent(d.failing, failures[d.failing]))
	default:
		d.ended = true
		d.send(emit, llm.Event{Kind: llm.EventEnd})
	}
}
