package catalog

import (
	"encoding/json"
	"slices"
)

// Reach is how many tokens a model takes in and gives out at most; 0 for what is not
// known. Reasons says that it reasons before it answers, always or when it is asked to.
type Reach struct {
	Input, Output int64
	Reasons       bool
}

// Reach is that of a model. It costs as little as Find.
func (b *Book) Reach(provider, model string) Reach {
	r, _ := find(b.list(provider).reach, provider, model)
	return r
}

// reach are those that a file of capabilities names:
// {"gpt-4o": {"features": {"context_window": 128000, "max_output_tokens": 16384}}}.
func (g Generals) reach() map[string]Reach {
	out := make(map[string]Reach, len(g))
	for model, entry := range g {
		var f struct {
			Window float64 `json:"context_window"`
			Output float64 `json:"max_output_tokens"`
		}
		var is struct {
			Supported []string `json:"supported"`
		}
		_ = json.Unmarshal(entry["type"], &is) // an entry without one does not reason
		if json.Unmarshal(entry["features"], &f) == nil {
			out[model] = Reach{tokens(f.Window), tokens(f.Output), slices.Contains(is.Supported, "reasoning")}
		}
	}
	return out
}

// tokens is a number of them; what cannot be one is not known.
func tokens(n float64) int64 {
	if n >= 1 && n < 1<<40 {
		return int64(n)
	}
	return 0
}
