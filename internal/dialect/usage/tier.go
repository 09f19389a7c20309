package usage

import (
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// tiers are the providers' names of service tiers that set the price.
// Source: https://platform.openai.com/docs/guides/priority-processing,
// https://docs.claude.com/en/api/service-tiers, read 2026-11.
var tiers = [...]string{"batch", "flex", "priority", "fast"}

// traffic maps the names that Vertex AI uses.
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo, read 2026-11.
var traffic = map[string]string{`"ON_DEMAND"`: llm.UsualTier, `"ON_DEMAND_FLEX"`: "flex", `"ON_DEMAND_PRIORITY"`: "priority"}

// Tier reads a JSON string as a tier that sets a price. It is llm.UsualTier for "default" and
// "standard", which exclude all other tiers, and "" for any other string.
func Tier(raw []byte) string {
	for _, t := range tiers {
		if jsonedit.IsName(raw, t) {
			return t
		}
	}
	if jsonedit.IsName(raw, "default") || jsonedit.IsName(raw, llm.UsualTier) {
		return llm.UsualTier
	}
	return traffic[string(raw)]
}

// tier reads the tier of a response or of its usage. The usual tier does not replace another one,
// because a response may report in one member how fast it was and in another how it was ordered.
func (c *Counter) tier(raw []byte) {
	if t := Tier(raw); t != "" && (t != llm.UsualTier || c.Found.Tier == "") {
		c.Found.Tier = t
	}
}
