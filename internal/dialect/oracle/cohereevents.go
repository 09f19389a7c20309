package oracle

import (
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// cohereEvent reads an event in Cohere's format: a text delta, the calls, or the end, which
// repeats the complete text and may repeat the calls.
func (d *decoder) cohereEvent(data []byte, emit func(*llm.Event)) {
	a := cohereResponse{}
	a.read(data, func(name, val []byte) {
		s, _ := jsonedit.Unquote(name)
		d.send(emit, llm.Event{Kind: llm.EventExtra, Name: s, Raw: val})
	})
	if f, failed := a.fault(); failed {
		d.spent(a.usage, emit)
		d.ended = true
		d.send(emit, f)
		return
	}
	if len(d.choices) == 0 {
		d.choices = append(d.choices, choice{})
	}
	if !a.hasFinish || d.choices[0].blocks == 0 {
		d.text(0, llm.TextPart, a.text, emit)
	}
	if !d.choices[0].called {
		for val := range jsonedit.Elements(a.calls) {
			d.cohereCall(val, emit)
		}
	}
	if len(a.usage) > 0 {
		d.spent(a.usage, emit)
	}
	if a.hasFinish {
		d.finished, d.choices[0].finish = true, a.finish
	}
}

// cohereCall emits a complete call from one event.
func (d *decoder) cohereCall(raw []byte, emit func(*llm.Event)) {
	call, ok := cohereCall(raw)
	if !ok {
		return
	}
	c := &d.choices[0]
	d.shutText(0, emit)
	block := c.blocks
	c.blocks++
	c.called = true
	d.send(emit, llm.Event{Kind: llm.EventBlock, Block: block, Part: llm.CallPart, ID: call.ID, Name: call.Name})
	d.send(emit, llm.Event{Kind: llm.EventArguments, Block: block, Part: llm.CallPart, Text: call.Arguments})
	d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Block: block, Part: llm.CallPart})
}
