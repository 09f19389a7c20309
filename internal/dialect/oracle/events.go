package oracle

import (
	"cmp"
	"strconv"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// NewDecoder makes the decoder of a stream: choices in pieces,
// {"index":0,"message":{"content":[{"type":"TEXT","text":"Hi"}]}}, the last one of each
// with a finishReason. Nothing else marks the end.
func (chat) NewDecoder(in *dialect.Incoming) dialect.EventDecoder {
	return &decoder{id: in.Header.Get("opc-request-id")}
}

// decoder reads one stream.
type decoder struct {
	in       dialect.EventReader
	id       string
	started  bool
	finished bool
	ended    bool
	usage    llm.Usage
	choices  []choice
	early    dialect.PendingToolCalls
	halves   dialect.SurrogateJoiner
	ev       llm.Event
}

// choice keeps the blocks of one answer apart.
type choice struct {
	blocks int              // begun so far
	open   int              // the one that is open, from 1; 0 for none
	part   llm.PartKind     // of it
	calls  []*call          // that are open, in their order
	byID   map[string]*call // those that have an id
	last   *call            // that pieces without an id belong to
	called bool             // a call has begun
	finish string           // the latest finishReason: some models send it in every piece, so that it is reported at the end
}

// call is a tool call. It begins when its name is known; one whose name never comes is none.
type call struct {
	begun bool
	block int
	id    string
	early []string // pieces of arguments that came before the name
}

// Feed reads what came.
func (d *decoder) Feed(p []byte, emit func(*llm.Event)) error {
	return d.in.Feed(p, func(_, data []byte) error { return d.event(data, emit) })
}

// Close ends the stream, when a finish reason has come.
func (d *decoder) Close(emit func(*llm.Event)) error {
	if err := d.in.Close(func(_, data []byte) error { return d.event(data, emit) }); err != nil {
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
	for at := range d.choices {
		c := &d.choices[at]
		d.shut(at, emit)
		if c.finish != "" {
			d.send(emit, llm.Event{Kind: llm.EventFinish, Choice: at, Finish: finished(c.finish, c.called), Text: c.finish})
		}
	}
	d.send(emit, llm.Event{Kind: llm.EventEnd})
}

func (d *decoder) send(emit func(*llm.Event), ev llm.Event) {
	d.ev = ev
	d.halves.Event(&d.ev, emit)
}

func (d *decoder) event(data []byte, emit func(*llm.Event)) error {
	switch {
	case d.ended:
		return nil
	case dialect.Done(data):
		d.end(emit)
		return nil
	case !splice.Valid(data):
		return fault.New(fault.UpstreamInvalid, "the provider sent an event that is no JSON object")
	}
	if f, ok := failure(data); ok {
		d.ended = true
		d.send(emit, f)
		return nil
	}
	if !d.started {
		d.started = true
		d.send(emit, llm.Event{Kind: llm.EventStart, ID: d.id, Model: splice.Text(data, "modelId")})
	}
	if splice.Text(data, "apiFormat") == cohere {
		d.coherePiece(data, emit)
		return nil
	}
	if err := d.piece(data, emit); err != nil {
		return err
	}
	return d.early.Bounded()
}

// piece reads a piece of a choice.
func (d *decoder) piece(data []byte, emit func(*llm.Event)) error {
	at, finish, failed := 0, "", ""
	var msg, logprobs []byte
	v2 := false
	for name, val := range splice.Members(data) {
		switch string(name) {
		case `"index"`:
			at, _ = strconv.Atoi(string(val))
		case `"message"`:
			msg = val
		case `"finishReason"`:
			finish, _ = splice.Unquote(val)
		case `"logprobs"`:
			logprobs = val
		case `"usage"`:
			d.spent(val, emit)
		case `"apiFormat"`:
			v2 = string(val) == `"`+cohereV2+`"`
		case `"errorMessage"`: // in Cohere's newer form
			failed, _ = splice.Unquote(val)
		case `"pad"`, `"modelId"`, `"id"`: // filler against guessing texts by the size of packets
		default:
			if !splice.IsNull(val) {
				s, _ := splice.Unquote(name)
				d.send(emit, llm.Event{Kind: llm.EventExtra, Choice: at, Name: s, Raw: val})
			}
		}
	}
	const most = 128 // no model gives more answers
	if at < 0 || at >= most {
		return fault.Newf(fault.UpstreamInvalid, "the provider sent a piece of answer %d", at)
	}
	for len(d.choices) <= at {
		d.choices = append(d.choices, choice{})
	}
	if failed != "" || strings.EqualFold(finish, "ERROR") {
		d.ended = true
		d.send(emit, modelFault(failed))
		return nil
	}
	if !v2 || finish == "" || d.choices[at].blocks == 0 { // the last piece of Cohere's newer form repeats the others
		d.message(at, msg, emit)
	}
	if list := logprobEntries(logprobs); list != nil {
		d.send(emit, llm.Event{Kind: llm.EventLogprobs, Choice: at, Raw: list})
	}
	if finish != "" {
		d.finished, d.choices[at].finish = true, finish
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

func (d *decoder) message(at int, raw []byte, emit func(*llm.Event)) {
	var m message
	m.read(raw, func(name, val []byte) {
		s, _ := splice.Unquote(name)
		d.send(emit, llm.Event{Kind: llm.EventExtra, Choice: at, Name: s, Raw: val})
	})
	d.text(at, llm.ThoughtPart, m.thought, emit)
	for val := range splice.Elements(m.content) {
		kind, text := contentOf(val)
		d.text(at, kind, text, emit)
	}
	d.text(at, llm.TextPart, m.plan, emit)
	d.text(at, llm.RefusalPart, m.refusal, emit)
	for val := range splice.Elements(m.calls) {
		d.call(at, val, emit)
	}
}

// text is a piece of a text, raw JSON.
func (d *decoder) text(at int, part llm.PartKind, raw []byte, emit func(*llm.Event)) {
	if len(raw) <= 2 || raw[0] != '"' {
		return
	}
	c := &d.choices[at]
	if c.open == 0 || c.part != part {
		d.shutText(at, emit)
		c.blocks++
		c.open, c.part = c.blocks, part
		d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: at, Block: c.open - 1, Part: part})
	}
	d.send(emit, llm.Event{Kind: llm.EventText, Choice: at, Block: c.open - 1, Part: part, Text: dialect.DecodeFragment(raw)})
}

// call is a piece of a tool call. Only its first piece has the id, and mostly the name.
func (d *decoder) call(at int, raw []byte, emit func(*llm.Event)) {
	c := &d.choices[at]
	fn := function(raw)
	id, name := splice.Text(raw, "id"), splice.Text(fn, "name")
	args, _ := splice.Find(fn, "arguments")
	one := c.piecedCall(id, name)
	c.last = one
	switch {
	case one.begun:
	case name == "":
		d.early.Keep(&one.early, dialect.DecodeFragment(args))
		return
	default:
		d.begin(at, one, name, emit)
	}
	d.arguments(at, one, dialect.DecodeFragment(args), emit)
}

// piecedCall is the call that a piece belongs to, a new one where it begins one.
func (c *choice) piecedCall(id, name string) *call {
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

// begin begins the block of a call.
func (d *decoder) begin(at int, one *call, name string, emit func(*llm.Event)) {
	d.shutText(at, emit)
	c := &d.choices[at]
	one.begun, one.block, c.called = true, c.blocks, true
	c.blocks++
	d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: at, Block: one.block, Part: llm.CallPart, ID: cmp.Or(one.id, ident.NewObjectID("call_")), Name: name})
	for _, piece := range d.early.Take(&one.early) {
		d.arguments(at, one, piece, emit)
	}
}

func (d *decoder) arguments(at int, one *call, piece string, emit func(*llm.Event)) {
	if piece != "" {
		d.send(emit, llm.Event{Kind: llm.EventArguments, Choice: at, Block: one.block, Part: llm.CallPart, Text: piece})
	}
}

func (d *decoder) shutText(at int, emit func(*llm.Event)) {
	c := &d.choices[at]
	if c.open > 0 {
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: at, Block: c.open - 1, Part: c.part})
		c.open = 0
	}
}

// shut ends all blocks of a choice.
func (d *decoder) shut(at int, emit func(*llm.Event)) {
	d.shutText(at, emit)
	c := &d.choices[at]
	for _, one := range c.calls {
		if d.early.Take(&one.early); one.begun {
			d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: at, Block: one.block, Part: llm.CallPart})
		}
	}
	c.calls, c.byID, c.last = nil, nil, nil
}
