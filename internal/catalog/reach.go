package catalog

import (
	"encoding/json"
	"slices"
)

// ContextLimits is how many tokens a model takes in and gives out at most, 0 for what is not known, and
// how it reasons.
type ContextLimits struct {
	Input, Output int64
	Reasoning     ReasoningUse

	// HidesReasoning says that callers get a summary of the reasoning at most, so that the
	// tokens that come are fewer than those that are billed.
	HidesReasoning bool
}

// ReasoningUse is when a model reasons before it answers. A larger value reasons more often.
type ReasoningUse uint8

// When a model reasons.
const (
	NeverReasons     ReasoningUse = iota // or nothing is known of the model
	ReasonsOnRequest                     // only when the caller asks for it
	ReasonsByDefault                     // unless the caller switches it off
	AlwaysReasons                        // whatever the caller asks for
)

// reasoningUses are the values of features.reasoning_use in a file of capabilities. A model that
// supports reasoning and has none reasons by default.
var reasoningUses = map[string]ReasoningUse{"on_request": ReasonsOnRequest, "default": ReasonsByDefault, "always": AlwaysReasons}

// ContextLimits is that of a model. It costs as little as Find.
func (b *PriceList) ContextLimits(provider, model string) ContextLimits {
	r, _ := find(b.list(provider).reach, provider, model)
	return r
}

// features are the members of "features" that Reach is made of.
type features struct {
	Window float64 `json:"context_window"`
	Output float64 `json:"max_output_tokens"`
	Use    string  `json:"reasoning_use"`   // "on_request", "default" or "always"
	Shown  string  `json:"reasoning_shown"` // "full", "summary" or "none"
}

// reach are those that a file of capabilities names. Where it leaves out how a model reasons,
// the built-in file counts, which may be nil:
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

// readFeatures reads the features of an entry: none where they are a list or cannot be read.
func readFeatures(entry map[string]json.RawMessage) (f features) {
	if json.Unmarshal(entry["features"], &f) != nil {
		return features{}
	}
	return f
}

// tokens is a number of them; what cannot be one is not known.
func tokens(n float64) int64 {
	if n >= 1 && n < 1<<40 {
		return int64(n)
	}
	return 0
}
