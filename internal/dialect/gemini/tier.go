package gemini

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

// Where Vertex AI is told how to serve a call, and where Gemini says how it did.
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo and
// https://ai.google.dev/gemini-api/docs/priority-inference, read 2026-11.
const (
	sharedHeader = "x-vertex-ai-llm-shared-request-type"
	tierHeader   = "x-gemini-service-tier"
)

// tierNames are Google's words for tiers of OpenAI and Anthropic.
var tierNames = map[string]string{`"default"`: "standard", `"standard_only"`: "standard", `"flex"`: "flex", `"priority"`: "priority"}

// tier is how the caller wants to be served, in Google's words; "" where it does not say, or
// Google has no word for it.
func (w *writer) tier() string {
	raw, ok := w.t.Peek("service_tier")
	if !ok {
		return ""
	}
	name := tierNames[string(raw)]
	if name != "" {
		w.t.Consume("service_tier")
	}
	return name
}

// sharing is the header that asks Vertex AI for a tier; what is usual needs none.
func (w *writer) sharing() wire.Header {
	switch tier := w.tier(); tier {
	case "", "standard":
		return nil
	default:
		return wire.Header{{Name: sharedHeader, Value: tier}}
	}
}

// tierOf is the tier that the header of an answer names; "" for none.
func tierOf(incoming *dialect.Incoming) string {
	name := incoming.Header.Get(tierHeader)
	if name == "" {
		return ""
	}
	return dialect.Tier(splice.Quote(name))
}

// tierExtra is the tier of an answer in the words of chat.
func tierExtra(tier string) llm.Param {
	if tier == llm.UsualTier {
		tier = "default"
	}
	return llm.Param{Name: "service_tier", Raw: splice.Quote(tier)}
}
