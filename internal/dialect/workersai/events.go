package workersai

import (
	"cmp"

	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewDecoder makes the decoder of a stream of text.
func (chat) NewDecoder(*dialect.Incoming) dialect.EventDecoder { return &events{} }

// events reads one stream: {"response":"Hi","p":"…"} while there is text, with the usage in
// the last one, or the chunks of models that use OpenAI's format, and [DONE].
type events struct {
	events       dialect.EventReader
	started      bool
	ended        bool
	blocks       int           // begun so far
	open         bool          // the block at blocks-1 contains text or reasoning and is open
	part         llm.PartKind  // of it
	calls        map[int]*call // by their indexes
	last         *call         // that fragments without an index belong to
	order        []int         // blocks of the calls, which stay open
	early        toolcalls.PendingToolCalls
	finishReason string // the provider's reason
	usage        llm.Usage
	joiner       surrogates.Joiner
	ev           llm.Event
}

// call is a tool call. It begins when its name is known. A call without a name is ignored.
type call struct {
	begun bool
	block int
	id    string
	early []string // fragments of arguments that arrived before the name
}

// Feed reads what came.
func (d *events) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, func(_, data []byte) error { return d.event(data, emit) })
}

// Close ends the reading. A stream without [DONE] is complete if it has a finish reason.
func (d *events) Close(emit func(*llm.Event)) error {
	if err := d.events.Close(func(_, data []byte) error { return d.event(data, emit) }); err != nil {
		return err
	}
	if d.finishReason != "" {
		d.end(emit)
	}
	return nil
}

func (d *events) send(emit func(*llm.Event), ev llm.Event) {
	d.ev = ev
	d.joiner.Event(&d.ev, emit)
}

func (d *events) event(data []byte, emit func(*llm.Event)) error {
	switch {
	case d.ended:
		return nil
	case dialect.Done(data):
		d.start(nil, emit)
		d.end(emit)
		return nil
	case !jsonedit.Valid(data):
		return fault.New(fault.UpstreamInvalid, "an event of the provider's stream is not a JSON object")
	}
	if f, ok := failure(data); ok {
		d.ended = true
		d.send(emit, f)
		return nil
	}
	d.start(data, emit)
	if u, _ := usage.Read(llm.ChatComplete, data, ""); u.Reported {
		d.usage = u
	}
	list, chatty := jsonedit.Find(data, "choices")
	if !chatty {
		d.delta(data, "response", emit)
		return d.early.Bounded()
	}
	for c := range jsonedit.Elements(list) {
		delta, _ := jsonedit.Find(c, "delta")
		d.delta(delta, "content", emit)
		if reason := jsonedit.Text(c, "finish_reason"); reason != "" {
			d.finishReason = reason
		}
	}
	return d.early.Bounded()
}

// failure reads {"errors":[{"code":3030,"message":"…"}]} and what other errors look like.
func failure(data []byte) (llm.Event, bool) {
	list, _ := jsonedit.Find(data, "errors")
	for e := range jsonedit.Elements(list) {
		code, _ := jsonedit.Find(e, "code")
		return llm.Event{Kind: llm.EventFault, Text: "Error " + string(code) + ":" + jsonedit.Text(e, "message"), Status: 500, Usage: upstreamerror.Usage(data)}, true
	}
	return upstreamerror.ReadEvent(data)
}

func (d *events) start(data []byte, emit func(*llm.Event)) {
	if !d.started {
		d.started = true
		d.send(emit, llm.Event{Kind: llm.EventStart, ID: jsonedit.Text(data, "id"), Model: jsonedit.Text(data, "model")})
	}
}

// delta reads a fragment of a response, whose text is under the given name.
func (d *events) delta(raw []byte, name string, emit func(*llm.Event)) {
	d.text(llm.ReasoningPart, reasoningText(raw), emit)
	content, _ := jsonedit.Find(raw, name)
	d.text(llm.TextPart, text(content), emit)
	calls, _ := jsonedit.Find(raw, "tool_calls")
	for val := range jsonedit.Elements(calls) {
		d.call(readCall(val), emit)
	}
}

func (d *events) text(part llm.PartKind, s string, emit func(*llm.Event)) {
	if s == "" {
		return
	}
	if !d.open || d.part != part {
		d.shut(emit)
		d.open, d.part = true, part
		d.blocks++
		d.send(emit, llm.Event{Kind: llm.EventBlock, Block: d.blocks - 1, Part: part})
	}
	d.send(emit, llm.Event{Kind: llm.EventText, Block: d.blocks - 1, Part: part, Text: s})
}

func (d *events) shut(emit func(*llm.Event)) {
	if d.open {
		d.open = false
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Block: d.blocks - 1, Part: d.part})
	}
}

// call reads a tool call or a fragment of one.
func (d *events) call(f function, emit func(*llm.Event)) {
	c := d.findOrAddCall(f)
	d.last = c
	if c.id == "" {
		c.id = f.id
	}
	switch {
	case c.begun:
	case f.name == "":
		d.early.Add(&c.early, f.arguments)
		return
	default:
		d.begin(c, f.name, emit)
	}
	d.arguments(c, f.arguments, emit)
}

// findOrAddCall returns the call that a fragment belongs to, or a new call if the fragment
// begins one. A fragment with neither an index nor a name continues the last call.
func (d *events) findOrAddCall(f function) *call {
	if !f.placed {
		if d.last != nil && (f.name == "" || !d.last.begun) {
			return d.last
		}
		f.index = -1 - len(d.calls)
	}
	if c := d.calls[f.index]; c != nil {
		return c
	}
	if d.calls == nil {
		d.calls = map[int]*call{}
	}
	c := &call{}
	d.calls[f.index] = c
	return c
}

// begin begins the block of a call.
func (d *events) begin(c *call, name string, emit func(*llm.Event)) {
	d.shut(emit)
	c.begun, c.block = true, d.blocks
	d.blocks++
	d.order = append(d.order, c.block)
	d.send(emit, llm.Event{Kind: llm.EventBlock, Block: c.block, Part: llm.CallPart, ID: cmp.Or(c.id, ident.NewObjectID("call_")), Name: name})
	for _, fragment := range d.early.Take(&c.early) {
		d.arguments(c, fragment, emit)
	}
}

func (d *events) arguments(c *call, fragment string, emit func(*llm.Event)) {
	if fragment != "" {
		d.send(emit, llm.Event{Kind: llm.EventArguments, Block: c.block, Part: llm.CallPart, Text: fragment})
	}
}

func (d *events) end(emit func(*llm.Event)) {
	if d.ended {
		return
	}
	d.ended = true
	d.shut(emit)
	for _, block := range d.order {
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Block: block, Part: llm.CallPart})
	}
	d.send(emit, llm.Event{Kind: llm.EventFinish, Finish: finishOf(d.finishReason, len(d.order) > 0), Text: d.finishReason})
	if d.usage.Reported {
		d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
	}
	d.send(emit, llm.Event{Kind: llm.EventEnd})
}
