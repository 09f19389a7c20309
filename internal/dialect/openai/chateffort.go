package openai

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// effort carries how much to think: in words, or made of the budget that callers of
// messages give. Where the provider has a switch for thinking, that is turned as well; a
// model that does not think needs no effort.
func (w *callWriter) effort() {
	thinking, requested := w.t.Peek(llm.Thinking)
	if w.switched && requested && w.toggle(splice.Text(thinking, "type")) {
		return
	}
	if !w.reasons {
		return // and what was said of it is named as lost
	}
	if raw, ok := w.t.Consume(llm.ReasoningEffort); ok {
		w.Raw(llm.ReasoningEffort, raw)
		return
	}
	if effort := dialect.EffortOf(thinking); requested && effort != "" {
		w.t.Consume(llm.Thinking)
		w.Str(llm.ReasoningEffort, effort)
	}
}

// toggle turns the switch and reports whether it is off. Other words than on and off are
// lost.
func (w *callWriter) toggle(to string) (off bool) {
	if to != "enabled" && to != "disabled" {
		return false
	}
	w.t.Consume(llm.Thinking)
	w.Key(llm.Thinking).Open('{')
	w.Str("type", to)
	w.Close('}')
	return to == "disabled"
}

// switchOff is what a provider with a switch is told for reasoning_effort "none", which
// it does not know; a caller's own word about thinking stays.
func (b *shaper) switchOff() {
	if b.rules.ThinkingSwitch && string(b.value(llm.ReasoningEffort)) == `"none"` {
		b.add(splice.SetDefault(llm.Thinking, thinkingOff))
		b.add(splice.Drop(llm.ReasoningEffort))
	}
}

var thinkingOff = []byte(`{"type":"disabled"}`)
