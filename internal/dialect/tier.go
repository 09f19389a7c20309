package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// tiers are the words of providers for how a call was served, where that sets its price.
// Source: https://platform.openai.com/docs/guides/priority-processing,
// https://docs.claude.com/en/api/service-tiers, read 2026-11.
var tiers = [...]string{"batch", "flex", "priority", "fast"}

// traffic are the words of Vertex AI.
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo, read 2026-11.
var traffic = map[string]string{`"ON_DEMAND"`: llm.UsualTier, `"ON_DEMAND_FLEX"`: "flex", `"ON_DEMAND_PRIORITY"`: "priority"}

// Tier reads a JSON string as one of the tiers that set a price: llm.UsualTier for
// "default" and "standard", which say that no other did; "" for every other word.
func Tier(raw []byte) string {
	for _, t := range tiers {
		if splice.IsName(raw, t) {
			return t
		}
	}
	if splice.IsName(raw, "default") || splice.IsName(raw, llm.UsualTier) {
		return llm.UsualTier
	}
	return traffic[string(raw)]
}

// tier takes the word of a reply or of its usage. What is usual does not undo it: a reply
// may say at one place how fast it was and at another how it was ordered.
func (c *counts) tier(raw []byte) {
	if t := Tier(raw); t != "" && (t != llm.UsualTier || c.u.Tier == "") {
		c.u.Tier = t
	}
}
