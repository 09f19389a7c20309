package catalog

import (
	"encoding/json"
	"slices"
)

// ContextLimits contains the maximum numbers of input and output tokens of a model, 0 if not
// known, and how it reasons.
type ContextLimits struct {
	Input, Output int64
	Reasoning     ReasoningUse

	// HidesReasoning is set if callers get at most a summary of the reasoning, so that they
	// receive fewer tokens than are billed.
	HidesReasoning bool
}

// ReasoningUse is when a model reasons before it responds. A larger value means more often.
type ReasoningUse uint8

// These are the values of ReasoningUse.
const (
	NeverReasons     ReasoningUse = iota // or nothing is known about the model
	ReasonsOnRequest                     // only if the caller requests it
	ReasonsByDefault                     // unless the caller switches it off
	AlwaysReasons                        // whatever the caller requests
)

// reasoningUses maps the values of features.reasoning_use in a file of capabilities. A model
// that supports reasoning and does not have a value reasons by default.
var reasoningUses = map[string]ReasoningUse{"on_request": ReasonsOnRequest, "default": ReasonsByDefault, "always": AlwaysReasons}

// ContextLimits returns the limits of a model. It is as cheap as Find.
func (b *PriceList) ContextLimits(provider, model string) ContextLimits {
	r, _ := find(b.list(provider).reach, provider, model)
	return r
}

// features are the members of "features" that ContextLimits uses.
type features struct {
	Window float64 `json:"context_window"`
	Output float64 `json:"max_output_tokens"`
	Use    string  `json:"reasoning_use"`   // "on_request", "default" or "always"
	Shown  string  `json:"reasoning_shown"` // "full", "summary" or "none"
}

// reach returns the limits of the models in a file of capabilities. If it omits how a model
// reasons, the value of builtin applies, which may be nil:
// {"gpt-5": {"type": {"supported": ["reasoning"]}, "features": {"context_window": 400000,
// "max_output_tokens": 128000, "reasoning_use": "always", "reasoning_shown": "summary"}}}.
func (g ModelInfo) reach(provider string, builtin ModelInfo) map[string]ContextLimits {
	out := make(map[string]ContextLimits, len(g))
	for model, entry := range g {
		var is Type
		_ = json.Unmarshal(entry["type"], &is) // an entry without one does not reason
		f := readFeatures(entry)
		r := ContextLimits{Input: tokens(f.Window), Output: tokens(f.Output)}
		if slices.Contains(is.Supported, "reasoning") {
			entry, _ := find(builtin, provider, model)
			listed := readFeatures(entry)
			if f.Use == "" {
				f.Use = listed.Use
			}
			if f.Shown == "" {
				f.Shown = listed.Shown
			}
			r.Reasoning = ReasonsByDefault
			if use, known := reasoningUses[f.Use]; known {
				r.Reasoning = use
			}
			r.HidesReasoning = f.Shown == "summary" || f.Shown == "none"
		}
		if r != (ContextLimits{}) {
			out[model] = r
		}
	}
	return out
}

// readFeatures reads the features of an entry. The result is empty if they are a list or
// invalid.
func readFeatures(entry map[string]json.RawMessage) (f features) {
	if json.Unmarshal(entry["features"], &f) != nil {
		return features{}
	}
	return f
}

// tokens converts a number of tokens; 0 (not known) if it is out of range.
func tokens(n float64) int64 {
	if n >= 1 && n < 1<<40 {
		return int64(n)
	}
	return 0
}
