package openai

import (
	"cmp"
	"strconv"

	"sluice/internal/dialect/surrogates"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// partialCall is a tool call that may be incomplete. It begins when its name is known, because
// callers of every shape get the name first. A call whose name never arrives is ignored, as in
// a buffered response.
type partialCall struct {
	begun        bool
	block        int
	id           string   // the provider's; empty until it arrives
	hasArguments bool     // some of its arguments arrived
	complete     bool     // they arrived in one fragment, and nothing is missing
	early        []string // fragments of arguments that arrived before the name
	signature    []string // the same, at most one
}

func (d *chunkReader) shutCalls(choice int, emit func(*llm.Event)) {
	c := &d.choices[choice]
	for _, b := range c.order {
		d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: choice, Block: b, Part: llm.CallPart})
	}
	c.order = nil
}

// call reads a fragment of a tool call. Servers that do not number their calls begin each
// call with its id. Some of them repeat the id in every fragment.
func (d *chunkReader) call(choice int, raw []byte, emit func(*llm.Event)) {
	c := &d.choices[choice]
	index, id := len(c.calls), ""
	var fn []byte
	numbered := false
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"index"`:
			if n, err := strconv.Atoi(string(val)); err == nil {
				index, numbered = n, true
			}
		case `"id"`:
			id, _ = jsonedit.Unquote(val)
		case `"function"`, `"custom"`:
			fn = val
		}
	}
	if last := c.calls[c.last]; !numbered && last != nil && (id == "" || id == last.id) {
		index = c.last
	}
	d.called(choice, index, id, fn, emit)
}

// called adds a fragment to the call at an index.
func (d *chunkReader) called(choice, index int, id string, fn []byte, emit func(*llm.Event)) {
	c := &d.choices[choice]
	name, args, sign := jsonedit.Text(fn, "name"), argumentsOf(fn), jsonedit.Text(fn, "thought_signature")
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
		call.complete = !call.hasArguments && jsonedit.Valid([]byte(args))
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

// another reports whether a fragment with a name begins another call at the same index. Some
// servers use one number, or no number, for all calls of a response. Their calls differ in
// their ids. Servers without ids send each call complete.
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

// arguments emits a fragment of a call's arguments.
func (d *chunkReader) arguments(choice int, call *partialCall, fragment string, emit func(*llm.Event)) {
	if fragment != "" {
		d.send(emit, llm.Event{Kind: llm.EventArguments, Choice: choice, Block: call.block, Part: llm.CallPart, Text: fragment})
	}
}

// argumentsOf returns the arguments in a response, or the free text of a custom tool. Some
// servers send an object instead of a string.
func argumentsOf(fn []byte) string {
	args, ok := jsonedit.Find(fn, "arguments")
	if !ok {
		args, _ = jsonedit.Find(fn, "input")
	} else if len(args) > 0 && args[0] == '{' {
		return string(args)
	}
	return surrogates.DecodeFragment(args)
}
