package bound

import (
	"cmp"
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/provider"
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
func executions(c *Call) (requested, other catalog.Execution) {
	if c.Endpoint == llm.CreateBatch {
		return catalog.Batch, ""
	}
	tier := serviceTier(c)
	switch requested = executionOf(c, tier); {
	case requested == catalog.Flex: // the provider may not grant it
		return requested, catalog.Standard
	case requested == catalog.Standard && c.Spec.Platform == provider.PlatformOpenAI && tier != "default":
		return requested, catalog.Priority
	}
	return requested, ""
}

// serviceTier returns the requested service tier in lower case, or "" when the call names none. For
// messages sent to OpenAI it returns "", because their tier has another meaning.
func serviceTier(c *Call) string {
	if c.Endpoint == llm.Messages && c.Spec.Platform == provider.PlatformOpenAI {
		return ""
	}
	tier := c.Text("service_tier")
	if tier == "" && c.Endpoint == llm.Proxy {
		native, _ := c.Raw("serviceTier") // Gemini: a string; Bedrock: {"type":"priority"}
		name, _ := jsonedit.Unquote(native)
		tier = cmp.Or(name, jsonedit.Text(native, "type"))
		for _, header := range tierHeaders {
			tier = cmp.Or(tier, c.Header.Get(header))
		}
	}
	return strings.TrimPrefix(strings.ToLower(tier), "service_tier_") // Gemini's SERVICE_TIER_PRIORITY
}

// executionOf returns the execution of a call with the given tier.
func executionOf(c *Call, tier string) catalog.Execution {
	switch {
	case tier == "flex", tier == "priority":
		return catalog.Execution(tier)
	case tier == "fast" && c.Plan != nil && c.Plan.Endpoint != nil && c.Plan.Endpoint.Dialect == provider.OpenAI:
		return catalog.Priority // OpenAI's name for it in responses
	case tier == "fast", c.Text("speed") == "fast":
		return catalog.Fast
	}
	return catalog.Standard
}
