package oracle

import (
	"cmp"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// NewDecoder returns the decoder of a stream. Each event is a delta of a choice,
// {"index":0,"message":{"content":[{"type":"TEXT","text":"Hi"}]}}. The last delta of a choice has a
// finishReason. Nothing else marks the end.
func (chat) NewDecoder(incoming *dialect.Incoming) dialect.EventDecoder {
	return &decoder{id: incoming.Header.Get("opc-request-id")}
}

// decoder decodes one stream.
type decoder struct {
	events   dialect.EventReader
	id       string
	started  bool
	finished bool
	ended    bool
	usage    llm.Usage
	choices  []choice
	early    toolcalls.PendingToolCalls
	joiner   surrogates.Joiner
	ev       llm.Event
}

// choice is the decoding state of one choice.
type choice struct {
	blocks int              // number of blocks begun so far
	open   int              // the open text block, counted from 1; 0 if none is open
	part   llm.PartKind     // kind of the open block
	calls  []*call          // open tool calls, in order
	byID   map[string]*call // open tool calls that have an id
	last   *call            // the call that fragments without an id belong to
	called bool             // a tool call has begun
	finish string           // the latest finishReason; some models send it in every delta, so it is reported at the end
}

// call is a tool call. It begins when its name is known. A call whose name never arrives is
// dropped.
type call struct {
	begun bool
	block int
	id    string
	early []string // fragments of arguments that arrived before the name
}

// Feed decodes the next bytes of the stream.
func (d *decoder) Feed(p []byte, emit func(*llm.Event)) error {
	return d.events.Feed(p, func(_, data []byte) error { return d.event(data, emit) })
}

// Close ends the stream. It emits the last events only if a finish reason arrived.
func (d *decoder) Close(emit func(*llm.Event)) error {
	if err := d.events.Close(func(_, data []byte) error { return d.event(data, emit) }); err != nil {
		return err
	}
	d.end(emit)
	return nil
}

func (d *decoder) end(emit func(*llm.Event)) {
	if !d.finished || d.ended {
		return
	}
	d.ended = true
	for index := range d.choices {
		c := &d.choices[index]
		d.shut(index, emit)
		if c.finish != "" {
			d.send(emit, llm.Event{Kind: llm.EventFinish, Choice: index, Finish: finished(c.finish, c.called), Text: c.finish})
		}
	}
	d.send(emit, llm.Event{Kind: llm.EventEnd})
}

func (d *decoder) send(emit func(*llm.Event), ev llm.Event) {
	d.ev = ev
	d.joiner.Event(&d.ev, emit)
}

func (d *decoder) event(data []byte, emit func(*llm.Event)) error {
	switch {
	case d.ended:
		return nil
	case dialect.Done(data):
		d.end(emit)
		return nil
	case !jsonedit.Valid(data):
		return fault.New(fault.UpstreamInvalid, "the provider sent an event that is not a JSON object")
	}
	if f, ok := failure(data); ok {
		d.ended = true
		d.send(emit, f)
		return nil
	}
	if !d.started {
		d.started = true
		d.send(emit, llm.Event{Kind: llm.EventStart, ID: d.id, Model: jsonedit.Text(data, "modelId")})
	}
	if jsonedit.Text(data, "apiFormat") == cohere {
		d.cohereEvent(data, emit)
		return nil
	}
	if err := d.choiceEvent(data, emit); err != nil {
		return err
	}
	return d.early.Bounded()
}

// choiceEvent decodes a delta of a choice.
func (d *decoder) choiceEvent(data []byte, emit func(*llm.Event)) error {
	index, finish, failed := 0, "", ""
	var msg, logprobs []byte
	v2 := false
	for name, val := range jsonedit.Members(data) {
		switch string(name) {
		case `"index"`:
			index, _ = strconv.Atoi(string(val))
		case `"message"`:
			msg = val
		case `"finishReason"`:
			finish, _ = jsonedit.Unquote(val)
		case `"logprobs"`:
			logprobs = val
		case `"usage"`:
			d.spent(val, emit)
		case `"apiFormat"`:
			v2 = string(val) == `"`+cohereV2+`"`
		case `"errorMessage"`: // in Cohere's newer format
			failed, _ = jsonedit.Unquote(val)
		case `"pad"`, `"modelId"`, `"id"`: // pad is filler, so that packet sizes do not reveal texts
		default:
			if !jsonedit.IsNull(val) {
				s, _ := jsonedit.Unquote(name)
				d.send(emit, llm.Event{Kind: llm.EventExtra, Choice: index, Name: s, Raw: val})
			}
		}
	}
	const maxChoices = 128 // no model returns more choices
	if index < 0 || index >= maxChoices {
		return fault.Newf(fault.UpstreamInvalid, "the provider sent a chunk for choice %d", index)
	}
	for len(d.choices) <= index {
		d.choices = append(d.choices, choice{})
	}
	if failed != "" || strings.EqualFold(finish, "ERROR") {
		d.ended = true
		d.send(emit, modelFault(failed))
		return nil
	}
	if !v2 || finish == "" || d.choices[index].blocks == 0 { // the last delta of Cohere's newer format repeats the others
		d.message(index, msg, emit)
	}
	if list := logprobEntries(logprobs); list != nil {
		d.send(emit, llm.Event{Kind: llm.EventLogprobs, Choice: index, Raw: list})
	}
	if finish != "" {
		d.finished, d.choices[index].finish = true, finish
	}
	return nil
}

func (d *decoder) spent(raw []byte, emit func(*llm.Event)) {
	u := d.usage
	readUsage(raw, &u)
	if u == d.usage {
		return
	}
	d.usage = u
	d.send(emit, llm.Event{Kind: llm.EventUsage, Usage: &d.usage})
}

func (d *decoder) message(index int, raw []byte, emit func(*llm.Event)) {
	var m message
	m.read(raw, func(name, val []byte) {
		s, _ := jsonedit.Unquote(name)
		d.send(emit, llm.Event{Kind: llm.EventExtra, Choice: index, Name: s, Raw: val})
	})
	d.text(index, llm.ReasoningPart, m.reasoning, emit)
	for val := range jsonedit.Elements(m.content) {
		kind, text := contentOf(val)
		d.text(index, kind, text, emit)
	}
	d.text(index, llm.TextPart, m.plan, emit)
	d.text(index, llm.RefusalPart, m.refusal, emit)
	for val := range jsonedit.Elements(m.calls) {
		d.call(index, val, emit)
	}
}

// text emits a text delta. raw is a JSON string; other values are skipped.
func (d *decoder) text(index int, part llm.PartKind, raw []byte, emit func(*llm.Event)) {
	if len(raw) <= 2 || raw[0] != '"' {
		return
	}
	c := &d.choices[index]
	if c.open == 0 || c.part != part {
		d.shutText(index, emit)
		c.blocks++
		c.open, c.part = c.blocks, part
		d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: index, Block: c.open - 1, Part: part})
	}
	d.send(emit, llm.Event{Kind: llm.EventText, Choice: index, Block: c.open - 1, Part: part, Text: surrogates.DecodeFragment(raw)})
}

// call decodes a fragment of a tool call. Only the first fragment has the id and, usually, the
// name.
func (d *decoder) call(index int, raw []byte, emit func(*llm.Event)) {
	c := &d.choices[index]
	fn := function(raw)
	id, name := jsonedit.Text(raw, "id"), jsonedit.Text(fn, "name")
	args, _ := jsonedit.Find(fn, "arguments")
	one := c.findOrAddCall(id, name)
	c.last = one
	switch {
	case one.begun:
	case name == "":
		d.early.Add(&one.early, surrogates.DecodeFragment(args))
		return
	default:
		d.begin(index, one, name, emit)
	}
	d.arguments(index, one, surrogates.DecodeFragment(args), emit)
}

// findOrAddCall returns the call that a fragment belongs to, or adds a new call.
func (c *choice) findOrAddCall(id, name string) *call {
	if one := c.byID[id]; one != nil {
		return one
	}
	if id == "" && c.last != nil && (name == "" || !c.last.begun) {
		return c.last
	}
	one := &call{id: id}
	c.calls = append(c.calls, one)
	if id != "" {
		if c.byID == nil {
			c.byID = map[string]*call{}
		}
		c.byID[id] = one
	}
	return one
}

// begin begins the block of a call and emits the arguments that arrived before its name.
func (d *decoder) begin(index int, one *call, name string, emit func(*llm.Event)) {
	d.shutText(index, emit)
	c := &d.choices[index]
	one.begun, one.block, c.called = true, c.blocks, true
	c.blocks++
	d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: index, Block: one.block, Part: llm.CallPart, ID: cmp.Or(one.id, ident.NewObjectID("call_")), Name: name})
	for _, fragment := range d.early.Take(&one.early) {
		d.arguments(index, one, fragment, emit)
	}
}

func (d *decoder) arguments(index int, one *call, fragment string, emit func(*llm.Event)) {
	if fragment != "" {
		d.send(emit, llm.Event{Kind: llm.EventArguments, Choice: index, Block: one.block, Part: llm.CallPart, Text: fragment})
	}
}

func (d *decoder) shutText(index int, emit func(*llm.Event)) {
	c := &d.choices[index]
	if c.open > 0 {
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: index, Block: c.open - 1, Part: c.part})
		c.open = 0
	}
}

// shut ends all open blocks of a choice.
func (d *decoder) shut(index int, emit func(*llm.Event)) {
	d.shutText(index, emit)
	c := &d.choices[index]
	for _, one := range c.calls {
		if d.early.Take(&one.early); one.begun {
			d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: index, Block: one.block, Part: llm.CallPart})
		}
	}
	c.calls, c.byID, c.last = nil, nil, nil
}
