package openai

import (
	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// effort writes the reasoning effort: as a keyword, or derived from the budget that callers
// of messages send. If the provider has a switch for thinking, effort sets it too. A model
// that does not think needs no effort.
func (w *callWriter) effort() {
	thinking, requested := w.t.Peek(llm.Thinking)
	if w.switched && requested && w.toggle(jsonedit.Text(thinking, "type")) {
		return
	}
	if !w.reasons {
		return // and its settings are reported as dropped
	}
	if raw, ok := w.t.Consume(llm.ReasoningEffort); ok {
		w.Raw(llm.ReasoningEffort, raw)
		return
	}
	if effort := conversation.EffortOf(thinking); requested && effort != "" {
		w.t.Consume(llm.Thinking)
		w.Str(llm.ReasoningEffort, effort)
	}
}

// toggle sets the switch and reports whether it is off. Values other than on and off are
// dropped.
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

// switchOff turns the switch off for reasoning_effort "none", which a provider with a switch
// does not support. It does not change a caller's own setting of thinking.
func (b *shaper) switchOff() {
	if b.rules.ThinkingSwitch && string(b.value(llm.ReasoningEffort)) == `"none"` {
		b.add(jsonedit.SetDefault(llm.Thinking, thinkingOff))
		b.add(jsonedit.Drop(llm.ReasoningEffort))
	}
}

var thinkingOff = []byte(`{"type":"disabled"}`)
