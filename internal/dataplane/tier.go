package dataplane

import (
	"cmp"
	"strings"

	"sluice/internal/catalog"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/splice"
)

// tierHeaders are the headers that select a tier on providers' own routes.
// Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo,
// https://docs.aws.amazon.com/bedrock/latest/userguide/service-tiers-inference.html, read 2026-11.
var tierHeaders = [...]string{"x-vertex-ai-llm-shared-request-type", "x-amzn-bedrock-service-tier"}

// executions returns the execution that the call requests, and another one that the provider may
// choose; "" for none. Projects at OpenAI and deployments at Azure can be set to priority, which
// applies to calls without a tier or with auto.
// Source: https://platform.openai.com/docs/guides/priority-processing,
// https://learn.microsoft.com/azure/foundry/openai/concepts/priority-processing, read 2026-11.
func (a *attempt) executions() (requested, other catalog.Execution) {
	if a.x.match.Endpoint == llm.CreateBatch {
		return catalog.Batch, ""
	}
	tier := a.tier()
	switch requested = a.executionOf(tier); {
	case requested == catalog.Flex: // the provider may not grant it
		return requested, catalog.Standard
	case requested == catalog.Standard && a.spec.Platform == provider.PlatformOpenAI && tier != "default":
		return requested, catalog.Priority
	}
	return requested, ""
}

// tier returns the requested service tier in lower case, or "" when the call names none. For
// messages sent to OpenAI it returns "", because their tier has another meaning.
func (a *attempt) tier() string {
	if a.x.match.Endpoint == llm.Messages && a.spec.Platform == provider.PlatformOpenAI {
		return ""
	}
	tier := a.text("service_tier")
	if tier == "" && a.x.match.Endpoint == llm.Proxy {
		native, _ := paramOf(a, "serviceTier") // Gemini: a string; Bedrock: {"type":"priority"}
		name, _ := splice.Unquote(native)
		tier = cmp.Or(name, splice.Text(native, "type"))
		for _, header := range tierHeaders {
			tier = cmp.Or(tier, a.header.Get(header))
		}
	}
	return strings.TrimPrefix(strings.ToLower(tier), "service_tier_") // Gemini's SERVICE_TIER_PRIORITY
}

// executionOf returns the execution of a call with the given tier.
func (a *attempt) executionOf(tier string) catalog.Execution {
	switch {
	case tier == "flex", tier == "priority":
		return catalog.Execution(tier)
	case tier == "fast" && a.plan != nil && a.plan.Endpoint != nil && a.plan.Endpoint.Dialect == provider.OpenAI:
		return catalog.Priority // OpenAI's name for it in responses
	case tier == "fast", a.text("speed") == "fast":
		return catalog.Fast
	}
	return catalog.Standard
}
