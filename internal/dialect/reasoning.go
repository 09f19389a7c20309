package dialect

import (
	"encoding/json"

	"sluice/internal/splice"
)

// EffortOf is the word of OpenAI's shapes for a budget of thoughts in Anthropic's form,
// {"type":"enabled","budget_tokens":2048} is "medium"; "" for what is none.
// Source: contract/provider-transforms.md 9.1.
func EffortOf(thinking []byte) string {
	if splice.Text(thinking, "type") != "enabled" {
		return ""
	}
	raw, _ := splice.Find(thinking, "budget_tokens")
	var budget int64
	if json.Unmarshal(raw, &budget) != nil {
		return ""
	}
	switch {
	case budget <= 1024:
		return "low"
	case budget <= 8192:
		return "medium"
	}
	return "high"
}
