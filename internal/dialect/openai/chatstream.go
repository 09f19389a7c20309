package openai

import (
	"bytes"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// NewDecoder makes the decoder of a stream of chat completion chunks.
func (chat) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &chunkReader{} }

// chunkReader reads the chunks of one stream. A stream that brings a finish reason but
// no [DONE] is whole: some servers leave the mark out.
type chunkReader struct {
	events     dialect.EventReader
	started    bool
	ended      bool
	finished   bool      // a choice has a finish reason
	pending    bool      // a finish reason was not reported yet: more of its choice may come
	unspent    bool      // usage came in the meantime
	opening    llm.Usage // as the first chunk tells it
	usage      llm.Usage
	choices    []choiceReader
	early      dialect.PendingToolCalls
	failed     *llm.Event
	surrogates dialect.SurrogateJoiner
	ev         llm.Event
}

// choiceReader keeps the blocks of one choice apart.
type choiceReader struct {
	blocks int                  // begun so far
	open   int                  // the block of text or thoughts that is open, from 1; 0 for none
	part   llm.PartKind         // of it
	detail string               // of thoughts, the kind and the number of their entry in reasoning_details
	proof  string               // of thoughts, what is told behind them
	calls  map[int]*partialCall // by their places
	last   int                  // place of the call that was told of last
	order  []int                // blocks of calls that are open
	called bool                 // a call has begun
	finish string               // the latest finish reason, until it is reported
}

// Feed reads what came.
func (d *chunkReader) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, func(name, data []byte) error { return d.event(data, emit) })
}

// Close ends the stream.
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
	d.surrogates.Event(&d.ev, emit)
}

func (d *chunkReader) event(data []byte, emit func(*llm.Event)) error {
	if d.ended {
		return nil
	}
	if dialect.Done(data) {
		if d.started { // of nothing, the mark is no answer
			d.end(emit)
		}
		return nil
	}
	if data[0] == '{' && !bytes.HasSuffix(bytes.TrimRight(data, " \t"), []byte{'}'}) {
		return fault.New(fault.UpstreamInvalid, "the provider sent a chunk that was cut off")
	}
	if f, ok := dialect.EventFault(data); ok {
		failed := f // f itself would be on the heap for each chunk
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
	for name, val := range splice.Members(data) {
		switch string(name) {
		case `"choices"`:
			for c := range splice.Elements(val) {
				d.choice(c, emit)
			}
		case `"usage"`, `"x_groq"`:
			d.spent(data, emit)
		case `"service_tier"`, `"system_fingerprint"`, `"id"`, `"object"`, `"created"`, `"model"`, `"provider"`, `"error"`:
		default:
			if !splice.IsNull(val) {
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
	ev := llm.Event{Kind: llm.EventStart, ID: splice.Text(data, "id"), Model: splice.Text(data, "model")}
	if d.opening, _ = dialect.Usage(llm.ChatComplete, data, "x_groq.usage"); d.opening.Reported {
		ev.Usage = &d.opening
	}
	d.send(emit, ev)
}

func (d *chunkReader) spent(data []byte, emit func(*llm.Event)) {
	u, _ := dialect.Usage(llm.ChatComplete, data, "x_groq.usage")
	if !u.Reported || u == d.usage {
		return
	}
	d.usage = u
	if d.unspent = d.pending; d.pending {
		return
	}
	d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
}

// hasChoices reports whether a chunk has more of an answer.
func hasChoices(chunk []byte) bool {
	choices, _ := splice.Find(chunk, "choices")
	for range splice.Elements(choices) {
		return true
	}
	return false
}

// reportFinish ends the choices that have a finish reason. Some servers repeat it in every chunk,
// so that it is reported when no more of an answer can come: with a chunk without choices, as that
// of the usage is, or at the end.
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
	for name, val := range splice.Members(raw) {
		switch string(name) {
		case `"index"`:
			choice, _ = strconv.Atoi(string(val))
		case `"delta"`:
			delta, pieced = val, true
		case `"message"`: // of who tells an answer in one chunk; Perplexity's is what the deltas come to so far
			if !pieced {
				delta = val
			}
		case `"logprobs"`:
			logprobs, _ = splice.Find(val, "content")
		case `"finish_reason"`:
			finish, _ = splice.Unquote(val)
		case `"usage"`: // Moonshot's place for it
			d.spent(raw, emit)
		}
	}
	const maxChoices = 128 // no provider gives more answers
	if choice < 0 || choice >= maxChoices {
		return
	}
	for len(d.choices) <= choice {
		d.choices = append(d.choices, choiceReader{})
	}
	d.delta(choice, delta, emit)
	if f, ok := choiceFault(raw, finish); ok && d.failed == nil { // told when all of the chunk is read
		failed := f // f itself would be on the heap for each chunk
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
	for name, val := range splice.Members(raw) {
		if splice.IsNull(val) {
			continue
		}
		switch string(name) {
		case `"reasoning_content"`, `"reasoning"`:
			if reasoning == nil && !inDetails(raw) { // some send the same under both names
				reasoning = val
				d.text(choice, llm.ReasoningPart, val, emit)
			}
		case `"reasoning_details"`:
			for entry := range splice.Elements(val) {
				d.reasoningDetail(choice, entry, emit)
			}
		case `"content"`:
			d.content(choice, val, emit)
		case `"images"`: // each whole
			d.parts(choice, pictures(val), emit)
		case `"refusal"`:
			d.text(choice, llm.RefusalPart, val, emit)
		case `"tool_calls"`:
			for c := range splice.Elements(val) {
				d.call(choice, c, emit)
			}
		case `"function_call"`: // as before there were tools
			d.called(choice, 0, "", val, emit)
		case `"annotations"`:
			d.cite(choice, val, emit)
		case `"audio"`:
			d.open(choice, llm.AudioPart, emit)
			d.send(emit, llm.Event{
				Kind: llm.EventMedia, Choice: choice, Block: d.choices[choice].open - 1, Part: llm.AudioPart,
				ID: splice.Text(val, "id"), Text: splice.Text(val, "transcript"), Media: &llm.Media{Data: splice.Text(val, "data")},
			})
		}
	}
}

// content is a piece of text, or as reasoning models of Mistral have it a list, in which
// pictures may stand, too.
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
		default: // is in no answer
		}
	}
}

func (d *chunkReader) text(choice int, part llm.PartKind, raw []byte, emit func(*llm.Event)) {
	d.emitText(choice, part, dialect.DecodeFragment(raw), emit)
}

func (d *chunkReader) emitText(choice int, part llm.PartKind, s string, emit func(*llm.Event)) {
	if s == "" {
		return
	}
	d.open(choice, part, emit)
	d.send(emit, llm.Event{Kind: llm.EventText, Choice: choice, Block: d.choices[choice].open - 1, Part: part, Text: s})
}

// cite tells the sources of the text that is open.
func (d *chunkReader) cite(choice int, notes []byte, emit func(*llm.Event)) {
	c := &d.choices[choice]
	if c.open == 0 || c.part != llm.TextPart {
		return
	}
	for note := range splice.Elements(notes) {
		d.send(emit, llm.Event{Kind: llm.EventCitation, Choice: choice, Block: c.open - 1, Part: llm.TextPart, Name: shapeName, Raw: note})
	}
}

// open makes sure that a block of that kind is the open one.
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
