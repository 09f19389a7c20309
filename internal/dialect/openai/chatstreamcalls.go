package openai

import (
	"cmp"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/ident"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// piecedCall is a tool call of which more may come. It begins when its name is known: callers
// of every shape hear the name first. One whose name never comes is none, as in a whole answer.
type piecedCall struct {
	begun     bool
	block     int
	id        string   // the provider's; empty: none so far
	said      bool     // some of its arguments came
	whole     bool     // they came in one piece, and nothing is missing
	early     []string // pieces of arguments that came before the name
	signature []string // the same, one at most
}

func (d *chunkReader) shutCalls(at int, emit func(*llm.Event)) {
	c := &d.choices[at]
	for _, b := range c.order {
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: at, Block: b, Part: llm.CallPart})
	}
	c.order = nil
}

// call reads a piece of a tool call. Servers that number none of their calls begin
// each with its id, which some of them repeat in every piece.
func (d *chunkReader) call(at int, raw []byte, emit func(*llm.Event)) {
	c := &d.choices[at]
	place, id := len(c.calls), ""
	var fn []byte
	numbered := false
	for name, val := range splice.Members(raw) {
		switch string(name) {
		case `"index"`:
			if n, err := strconv.Atoi(string(val)); err == nil {
				place, numbered = n, true
			}
		case `"id"`:
			id, _ = splice.Unquote(val)
		case `"function"`, `"custom"`:
			fn = val
		}
	}
	if last := c.calls[c.last]; !numbered && last != nil && (id == "" || id == last.id) {
		place = c.last
	}
	d.called(at, place, id, fn, emit)
}

// called takes a piece of the call at a place.
func (d *chunkReader) called(at, place int, id string, fn []byte, emit func(*llm.Event)) {
	c := &d.choices[at]
	name, args, sign := splice.Text(fn, "name"), argumentsOf(fn), splice.Text(fn, "thought_signature")
	call := c.calls[place]
	if call != nil && name != "" && call.another(id, args) {
		d.shutCalls(at, emit)
		call = nil
	}
	if call == nil {
		if c.calls == nil {
			c.calls = map[int]*piecedCall{}
		}
		call = &piecedCall{}
		c.calls[place] = call
	}
	if args != "" {
		call.whole = !call.said && splice.Valid([]byte(args))
	}
	c.last, call.said, call.id = place, call.said || args != "", cmp.Or(call.id, id)
	switch {
	case call.begun:
	case name == "":
		d.early.Keep(&call.early, args)
		if len(call.signature) == 0 {
			d.early.Keep(&call.signature, sign)
		}
		return
	default:
		d.begin(at, call, name, emit)
		if kept := d.early.Take(&call.signature); len(kept) > 0 {
			sign = kept[0]
		}
	}
	d.arguments(at, call, args, emit)
	if sign != "" {
		d.send(emit, llm.Event{Kind: llm.EventSignature, Choice: at, Block: call.block, Part: llm.CallPart, Text: sign})
	}
}

// another reports whether a piece with a name begins another call at the same place: servers
// that give all calls of an answer one number, or none, tell them apart by their ids, and those
// that have no ids either tell each call whole.
func (c *piecedCall) another(id, args string) bool {
	if id == "" {
		return c.begun && c.whole && args != ""
	}
	return c.id != "" && id != c.id
}

// begin begins the block of a call.
func (d *chunkReader) begin(at int, call *piecedCall, name string, emit func(*llm.Event)) {
	d.shut(at, emit)
	c := &d.choices[at]
	call.begun, call.block = true, c.blocks
	c.blocks++
	c.called = true
	c.order = append(c.order, call.block)
	d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: at, Block: call.block, Part: llm.CallPart, ID: cmp.Or(call.id, ident.NewObjectID("call_")), Name: name})
	for _, piece := range d.early.Take(&call.early) {
		d.arguments(at, call, piece, emit)
	}
}

// arguments tells a piece of a call's arguments.
func (d *chunkReader) arguments(at int, call *piecedCall, piece string, emit func(*llm.Event)) {
	if piece != "" {
		d.send(emit, llm.Event{Kind: llm.EventArguments, Choice: at, Block: call.block, Part: llm.CallPart, Text: piece})
	}
}

// argumentsOf are the arguments in an answer, of which some servers make an object where it
// is to be a text, or the free text of a custom tool.
func argumentsOf(fn []byte) string {
	args, ok := splice.Find(fn, "arguments")
	if !ok {
		args, _ = splice.Find(fn, "input")
	} else if len(args) > 0 && args[0] == '{' {
		return string(args)
	}
	return dialect.DecodeFragment(args)
}
