package anthropic

import (
	"encoding/json"

	"sluice/internal/dialect/claude"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// budgets maps effort levels to thinking budgets, in tokens.
// Source: contract/provider-transforms.md 1.6.
var budgets = map[string]int64{"low": 1024, "medium": 8192, "high": 16384, "xhigh": 32768}

// effort writes how much the model thinks. Parameters in Anthropic's own format win. For an effort
// level alone, newer models choose the amount and return a summary of their thinking. Older models
// get a budget.
// Source: contract/provider-transforms.md 1.6.
func (w *parameterWriter) effort() {
	thinking, requested := w.t.Consume(llm.Thinking)
	w.Raw("thinking", thinking)
	raw, ok := w.t.Peek(llm.ReasoningEffort)
	if !ok {
		if !requested && w.model.AsksForSummary(w.c, w.t) {
			w.visible()
		}
		return
	}
	level, _ := jsonedit.Unquote(raw)
	switch {
	case w.native(), requested && w.model.SupportsEffort() && w.model.SupportsEffortLevel(level):
		w.level = raw
	case requested:
		return
	case level == "none" && !w.model.Since(5, 0): // these models think only on request
	case level == "none":
		still := w.model.DisabledThinkingType()
		if still == "" {
			return
		}
		w.Key("thinking").Open('{')
		w.Str("type", still)
		w.Close('}')
	case level == "minimal":
		return
	case w.model.SupportsAdaptiveThinking():
		w.visible()
		if !w.model.SupportsEffortLevel(level) {
			return
		}
		w.level = raw
	case !w.budget(level):
		return
	}
	w.t.Consume(llm.ReasoningEffort)
}

// visible requests a summary of the thinking from a model that chooses how much it thinks.
func (w *parameterWriter) visible() {
	w.Raw("thinking", w.model.VisibleThinking())
	w.added |= w.model.AddsDisplay()
}

// budget writes a thinking budget for an older model. It reports false, and writes nothing, if level
// is unknown, if the budget is not below the response limit, or if the model would reject the call.
func (w *parameterWriter) budget(level string) bool {
	tokens, known := budgets[level]
	limit := w.model.MaxOutput()
	if w.tokens != nil && json.Unmarshal(w.tokens, &limit) != nil {
		return false
	}
	if !known || !w.model.SupportsThinking() || tokens >= limit || !claude.AllowsReasoning(w.c, w.t) {
		return false
	}
	w.Key("thinking").Open('{')
	w.Str("type", "enabled")
	w.Int("budget_tokens", tokens)
	w.Close('}')
	return true
}

// output writes output_config: the effort, the response format, and the members that the
// caller set there.
func (w *parameterWriter) output() {
	const prefix = "output_config."
	config, ok := w.t.Consume("output_config") // from callers of other surfaces
	if !ok || !isObject(config) {
		config = nil
	}
	open := false
	put := func(name string, raw []byte) {
		if len(raw) == 0 {
			return
		}
		if !open {
			w.Key("output_config").Open('{')
			open = true
		}
		w.Named(name, raw)
	}
	for key, val := range jsonedit.Members(config) {
		put(plainName(key), val)
	}
	if _, twice := jsonedit.Find(config, "effort"); !twice {
		put("effort", w.level)
	}
	if _, twice := jsonedit.Find(config, "format"); !twice {
		put("format", w.format())
	}
	for i := range w.c.Params {
		if name := w.c.Params[i].Name; len(name) > len(prefix) && name[:len(prefix)] == prefix {
			raw, _ := w.t.Consume(name)
			put(name[len(prefix):], raw)
		}
	}
	if open {
		w.Close('}')
	}
}
