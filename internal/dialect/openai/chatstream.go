package openai

import (
	"bytes"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewDecoder returns the decoder of a stream of chat completion chunks.
func (chat) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &chunkReader{} }

// uploads.chunkReader decodes the chunks of one stream. A stream with a finish reason but without [DONE]
// is complete: some servers omit [DONE].
type chunkReader struct {
	events   dialect.EventReader
	started  bool
	ended    bool
	finished bool      // a choice has a finish reason
	pending  bool      // a finish reason is not reported yet: more of its choice may follow
	unspent  bool      // usage arrived while a finish reason was pending
	opening  llm.Usage // usage in the first chunk
	usage    llm.Usage
	choices  []choiceReader
	early    toolcalls.PendingToolCalls
	failed   *llm.Event
	joiner   surrogates.Joiner
	ev       llm.Event
}

// choiceReader is the decoding state of one choice.
type choiceReader struct {
	blocks int                  // number of blocks begun so far
	open   int                  // the open text or reasoning block, counted from 1; 0 if none is open
	part   llm.PartKind         // kind of the open block
	detail string               // of open reasoning: kind and number of its entry in reasoning_details
	proof  string               // of open reasoning: the signature to emit at its end
	calls  map[int]*partialCall // by index
	last   int                  // index of the call that was updated last
	order  []int                // open tool call blocks
	called bool                 // a tool call has begun
	finish string               // the latest finish reason; empty once it is reported
}

// Feed decodes the next bytes of the stream.
func (d *chunkReader) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, func(name, data []byte) error { return d.event(data, emit) })
}

// Close ends the stream. If a finish reason arrived, it emits the remaining events.
func (d *chunkReader) Close(emit func(*llm.Event)) error {
	if err := d.events.Close(func(name, data []byte) error { return d.event(data, emit) }); err != nil {
		return err
	}
	if d.finished {
		d.end(emit)
	}
	return nil
}

func (d *chunkReader) send(emit func(*llm.Event), ev llm.Event) {
	d.ev = ev
	d.joiner.Event(&d.ev, emit)
}

func (d *chunkReader) event(data []byte, emit func(*llm.Event)) error {
	if d.ended {
		return nil
	}
	if dialect.Done(data) {
		if d.started { // [DONE] without a chunk is not a response
			d.end(emit)
		}
		return nil
	}
	if data[0] == '{' && !bytes.HasSuffix(bytes.TrimRight(data, " \t"), []byte{'}'}) {
		return fault.New(fault.UpstreamInvalid, "the provider sent a chunk that was cut off")
	}
	if f, ok := upstreamerror.ReadEvent(data); ok {
		failed := f // a copy: f itself would be on the heap for each chunk
		if !hasChoices(data) {
			d.ended = true
			d.send(emit, failed)
			return nil
		}
		d.failed = &failed
	}
	d.start(data, emit)
	if d.pending && !hasChoices(data) {
		d.reportFinish(emit)
	}
	for name, val := range jsonedit.Members(data) {
		switch string(name) {
		case `"choices"`:
			for c := range jsonedit.Elements(val) {
				d.choice(c, emit)
			}
		case `"usage"`, `"x_groq"`:
			d.spent(data, emit)
		case `"service_tier"`, `"system_fingerprint"`, `"id"`, `"object"`, `"created"`, `"model"`, `"provider"`, `"error"`:
		default:
			if !jsonedit.IsNull(val) {
				d.send(emit, llm.Event{Kind: llm.EventExtra, Name: plainName(name), Raw: val})
			}
		}
	}
	if d.failed != nil {
		d.ended = true
		d.send(emit, *d.failed)
		return nil
	}
	return d.early.Bounded()
}

func (d *chunkReader) start(data []byte, emit func(*llm.Event)) {
	if d.started {
		return
	}
	d.started = true
	ev := llm.Event{Kind: llm.EventStart, ID: jsonedit.Text(data, "id"), Model: jsonedit.Text(data, "model")}
	if d.opening, _ = usage.Read(llm.ChatComplete, data, "x_groq.usage"); d.opening.Reported {
		ev.Usage = &d.opening
	}
	d.send(emit, ev)
}

func (d *chunkReader) spent(data []byte, emit func(*llm.Event)) {
	u, _ := usage.Read(llm.ChatComplete, data, "x_groq.usage")
	if !u.Reported || u == d.usage {
		return
	}
	d.usage = u
	if d.unspent = d.pending; d.pending {
		return
	}
	d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
}

// hasChoices reports whether a chunk contains a choice.
func hasChoices(chunk []byte) bool {
	choices, _ := jsonedit.Find(chunk, "choices")
	for range jsonedit.Elements(choices) {
		return true
	}
	return false
}

// reportFinish ends the choices that have a finish reason. Some servers repeat the reason in every
// chunk. It is therefore reported only when no more content can follow: with a chunk without
// choices, such as the usage chunk, or at the end.
func (d *chunkReader) reportFinish(emit func(*llm.Event)) {
	d.pending = false
	for choice := range d.choices {
		c := &d.choices[choice]
		if c.finish == "" {
			continue
		}
		d.shut(choice, emit)
		d.shutCalls(choice, emit)
		d.send(emit, llm.Event{Kind: llm.EventFinish, Choice: choice, Finish: finishOf(c.finish, c.called), Text: c.finish})
		c.finish = ""
	}
	if d.unspent {
		d.unspent = false
		d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
	}
}

func (d *chunkReader) choice(raw []byte, emit func(*llm.Event)) {
	choice, finish, pieced := 0, "", false
	var delta, logprobs []byte
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"index"`:
			choice, _ = strconv.Atoi(string(val))
		case `"delta"`:
			delta, pieced = val, true
		case `"message"`: // from servers that send a response in one chunk; Perplexity's repeats the deltas so far
			if !pieced {
				delta = val
			}
		case `"logprobs"`:
			logprobs, _ = jsonedit.Find(val, "content")
		case `"finish_reason"`:
			finish, _ = jsonedit.Unquote(val)
		case `"usage"`: // where Moonshot puts it
			d.spent(raw, emit)
		}
	}
	const maxChoices = 128 // no provider returns more choices
	if choice < 0 || choice >= maxChoices {
		return
	}
	for len(d.choices) <= choice {
		d.choices = append(d.choices, choiceReader{})
	}
	d.delta(choice, delta, emit)
	if f, ok := choiceFault(raw, finish); ok && d.failed == nil { // emitted after the complete chunk is read
		failed := f // a copy: f itself would be on the heap for each chunk
		d.failed = &failed
		return
	}
	if len(logprobs) > 2 {
		d.send(emit, llm.Event{Kind: llm.EventLogprobs, Choice: choice, Raw: logprobs})
	}
	if finish != "" {
		d.finished, d.pending = true, true
		d.choices[choice].finish = finish
	}
}

func (d *chunkReader) delta(choice int, raw []byte, emit func(*llm.Event)) {
	var reasoning []byte
	for name, val := range jsonedit.Members(raw) {
		if jsonedit.IsNull(val) {
			continue
		}
		switch string(name) {
		case `"reasoning_content"`, `"reasoning"`:
			if reasoning == nil && !inDetails(raw) { // some servers send the same text under both names
				reasoning = val
				d.text(choice, llm.ReasoningPart, val, emit)
			}
		case `"reasoning_details"`:
			for entry := range jsonedit.Elements(val) {
				d.reasoningDetail(choice, entry, emit)
			}
		case `"content"`:
			d.content(choice, val, emit)
		case `"images"`: // each image is complete
			d.parts(choice, pictures(val), emit)
		case `"refusal"`:
			d.text(choice, llm.RefusalPart, val, emit)
		case `"tool_calls"`:
			for c := range jsonedit.Elements(val) {
				d.call(choice, c, emit)
			}
		case `"function_call"`: // from before tool_calls existed
			d.called(choice, 0, "", val, emit)
		case `"annotations"`:
			d.cite(choice, val, emit)
		case `"audio"`:
			d.open(choice, llm.AudioPart, emit)
			d.send(emit, llm.Event{
				Kind: llm.EventMedia, Choice: choice, Block: d.choices[choice].open - 1, Part: llm.AudioPart,
				ID: jsonedit.Text(val, "id"), Text: jsonedit.Text(val, "transcript"), Media: &llm.Media{Data: jsonedit.Text(val, "data")},
			})
		}
	}
}

// content decodes a text delta. Mistral's reasoning models send a list instead, which may also
// contain images.
func (d *chunkReader) content(choice int, raw []byte, emit func(*llm.Event)) {
	if raw[0] == '"' {
		d.text(choice, llm.TextPart, raw, emit)
		return
	}
	d.parts(choice, readResponseContent(raw), emit)
}

func (d *chunkReader) parts(choice int, list []llm.Part, emit func(*llm.Event)) {
	for _, p := range list {
		switch p.Kind {
		case llm.TextPart, llm.ReasoningPart:
			d.emitText(choice, p.Kind, p.Text, emit)
		case llm.ImagePart, llm.FilePart:
			d.shut(choice, emit)
			d.open(choice, p.Kind, emit)
			d.send(emit, llm.Event{Kind: llm.EventMedia, Choice: choice, Block: d.choices[choice].open - 1, Part: p.Kind, Media: p.Media})
			d.shut(choice, emit)
		default: // not in responses
		}
	}
}

func (d *chunkReader) text(choice int, part llm.PartKind, raw []byte, emit func(*llm.Event)) {
	d.emitText(choice, part, surrogates.DecodeFragment(raw), emit)
}

func (d *chunkReader) emitText(choice int, part llm.PartKind, s string, emit func(*llm.Event)) {
	if s == "" {
		return
	}
	d.open(choice, part, emit)
	d.send(emit, llm.Event{Kind: llm.EventText, Choice: choice, Block: d.choices[choice].open - 1, Part: part, Text: s})
}

// cite emits the citations of the open text block.
func (d *chunkReader) cite(choice int, notes []byte, emit func(*llm.Event)) {
	c := &d.choices[choice]
	if c.open == 0 || c.part != llm.TextPart {
		return
	}
	for note := range jsonedit.Elements(notes) {
		d.send(emit, llm.Event{Kind: llm.EventCitation, Choice: choice, Block: c.open - 1, Part: llm.TextPart, Name: shapeName, Raw: note})
	}
}

// open ensures that a block of that kind is open. It ends an open block of another kind first.
func (d *chunkReader) open(choice int, part llm.PartKind, emit func(*llm.Event)) {
	c := &d.choices[choice]
	if c.open > 0 && c.part == part {
		return
	}
	d.shut(choice, emit)
	c.blocks++
	c.open, c.part, c.detail = c.blocks, part, ""
	d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: choice, Block: c.open - 1, Part: part})
}

func (d *chunkReader) shut(choice int, emit func(*llm.Event)) {
	c := &d.choices[choice]
	if c.open > 0 {
		d.prove(choice, detailsShape, c.proof, emit)
		c.proof = ""
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: choice, Block: c.open - 1, Part: c.part})
		c.open = 0
	}
}

func (d *chunkReader) end(emit func(*llm.Event)) {
	if d.ended {
		return
	}
	d.reportFinish(emit)
	for choice := range d.choices {
		d.shut(choice, emit)
		d.shutCalls(choice, emit)
	}
	d.ended = true
	d.send(emit, llm.Event{Kind: llm.EventEnd})
}
