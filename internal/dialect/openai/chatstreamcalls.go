package openai

import (
	"cmp"
	"strconv"

	"sluice/internal/dialect"
	"sluice/internal/ident"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// partialCall is a tool call of which more may come. It begins when its name is known: callers
// of every shape hear the name first. One whose name never comes is none, as in a whole answer.
type partialCall struct {
	begun        bool
	block        int
	id           string   // the provider's; empty: none so far
	hasArguments bool     // some of its arguments came
	complete     bool     // they came in one piece, and nothing is missing
	early        []string // pieces of arguments that came before the name
	signature    []string // the same, one at most
}

func (d *chunkReader) shutCalls(choice int, emit func(*llm.Event)) {
	c := &d.choices[choice]
	for _, b := range c.order {
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: choice, Block: b, Part: llm.CallPart})
	}
	c.order = nil
}

// call reads a piece of a tool call. Servers that number none of their calls begin
// each with its id, which some of them repeat in every piece.
func (d *chunkReader) call(choice int, raw []byte, emit func(*llm.Event)) {
	c := &d.choices[choice]
	index, id := len(c.calls), ""
	var fn []byte
	numbered := false
	for name, val := range splice.Members(raw) {
		switch string(name) {
		case `"index"`:
			if n, err := strconv.Atoi(string(val)); err == nil {
				index, numbered = n, true
			}
		case `"id"`:
			id, _ = splice.Unquote(val)
		case `"function"`, `"custom"`:
			fn = val
		}
	}
	if last := c.calls[c.last]; !numbered && last != nil && (id == "" || id == last.id) {
		index = c.last
	}
	d.called(choice, index, id, fn, emit)
}

// called takes a piece of the call at a place.
func (d *chunkReader) called(choice, index int, id string, fn []byte, emit func(*llm.Event)) {
	c := &d.choices[choice]
	name, args, sign := splice.Text(fn, "name"), argumentsOf(fn), splice.Text(fn, "thought_signature")
	call := c.calls[index]
	if call != nil && name != "" && call.another(id, args) {
		d.shutCalls(choice, emit)
		call = nil
	}
	if call == nil {
		if c.calls == nil {
			c.calls = map[int]*partialCall{}
		}
		call = &partialCall{}
		c.calls[index] = call
	}
	if args != "" {
		call.complete = !call.hasArguments && splice.Valid([]byte(args))
	}
	c.last, call.hasArguments, call.id = index, call.hasArguments || args != "", cmp.Or(call.id, id)
	switch {
	case call.begun:
	case name == "":
		d.early.Add(&call.early, args)
		if len(call.signature) == 0 {
			d.early.Add(&call.signature, sign)
		}
		return
	default:
		d.begin(choice, call, name, emit)
		if signatures := d.early.Take(&call.signature); len(signatures) > 0 {
			sign = signatures[0]
		}
	}
	d.arguments(choice, call, args, emit)
	if sign != "" {
		d.send(emit, llm.Event{Kind: llm.EventSignature, Choice: choice, Block: call.block, Part: llm.CallPart, Text: sign})
	}
}

// another reports whether a piece with a name begins another call at the same place: servers
// that give all calls of an answer one number, or none, tell them apart by their ids, and those
// that have no ids either tell each call whole.
func (c *partialCall) another(id, args string) bool {
	if id == "" {
		return c.begun && c.complete && args != ""
	}
	return c.id != "" && id != c.id
}

// begin begins the block of a call.
func (d *chunkReader) begin(choice int, call *partialCall, name string, emit func(*llm.Event)) {
	d.shut(choice, emit)
	c := &d.choices[choice]
	call.begun, call.block = true, c.blocks
	c.blocks++
	c.called = true
	c.order = append(c.order, call.block)
	d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: choice, Block: call.block, Part: llm.CallPart, ID: cmp.Or(call.id, ident.NewObjectID("call_")), Name: name})
	for _, fragment := range d.early.Take(&call.early) {
		d.arguments(choice, call, fragment, emit)
	}
}

// arguments tells a piece of a call's arguments.
func (d *chunkReader) arguments(choice int, call *partialCall, fragment string, emit func(*llm.Event)) {
	if fragment != "" {
		d.send(emit, llm.Event{Kind: llm.EventArguments, Choice: choice, Block: call.block, Part: llm.CallPart, Text: fragment})
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
