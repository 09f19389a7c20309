package gemini

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// Headers that request a service tier from Vertex AI and in which Gemini reports it.
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo and
// https://ai.google.dev/gemini-api/docs/priority-inference, read 2026-11.
const (
	sharedHeader = "x-vertex-ai-llm-shared-request-type"
	tierHeader   = "x-gemini-service-tier"
)

// tierNames maps the tiers of OpenAI and Anthropic to Google's names.
var tierNames = map[string]string{`"default"`: "standard", `"standard_only"`: "standard", `"flex"`: "flex", `"priority"`: "priority"}

// tier returns Google's name of the requested tier. It returns "" if the caller does not
// request one, or Google has no such tier.
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

// sharing returns the header that requests a tier from Vertex AI. The standard tier needs
// no header.
func (w *writer) sharing() wire.Header {
	switch tier := w.tier(); tier {
	case "", "standard":
		return nil
	default:
		return wire.Header{{Name: sharedHeader, Value: tier}}
	}
}

// tierOf returns the tier in the header of a response, or "" when it is missing.
func tierOf(incoming *dialect.Incoming) string {
	name := incoming.Header.Get(tierHeader)
	if name == "" {
		return ""
	}
	return usage.Tier(jsonedit.Quote(name))
}

// tierExtra is the tier of a response under chat's name for it.
func tierExtra(tier string) llm.Param {
	if tier == llm.UsualTier {
		tier = "default"
	}
	return llm.Param{Name: "service_tier", Raw: jsonedit.Quote(tier)}
}
