package check

import "sluice/internal/domain/guardrail"

// List returns the built-in checks, one for each row. The caller owns the slice.
// Source: contract/dataplane.md 5.6.
func List() []Check {
	return []Check{
		regexMatch(),
		regexReplace(),
		sentenceCount(),
		wordCount(),
		characterCount(),
		allUpperCase(),
		allLowerCase(),
		endsWith(),
		contains(),
		jsonSchema(),
		jsonKeys(),
		containsCode(),
		notNull(),
		llmJudge(),
		modelWhitelist(),
		modelRules(),
		allowedRequestTypes(),
		requiredMetadataKeys(),
		requiredMetadataKeyPairs(),
		requestParametersCheck(),
		jwtCheck(),
		webhook(),
		logCheck(),
		validURLs(),
		inlineImageURLs(),
		addPrefix(),
	}
}

// Phases in which checks run.
func bothPhases() []guardrail.Phase  { return []guardrail.Phase{guardrail.Input, guardrail.Output} }
func inputPhase() []guardrail.Phase  { return []guardrail.Phase{guardrail.Input} }
func outputPhase() []guardrail.Phase { return []guardrail.Phase{guardrail.Output} }
