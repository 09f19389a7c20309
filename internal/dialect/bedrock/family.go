package bedrock

import (
	"net/url"
	"slices"
	"strings"

	"sluice/internal/dialect/claude"
)

// The families with parameters of their own. All other models get the common parameters.
const (
	anthropic = "anthropic"
	cohere    = "cohere"
	ai21      = "ai21"
	meta      = "meta"
	mistr     = "mistral"
	amazon    = "amazon"
	openai    = "openai"
)

// regions lists the prefixes of inference profiles that span regions.
// Source: contract/provider-transforms.md 3.1;
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html, read 2026-11.
var regions = [...]string{"us.", "eu.", "apac.", "au.", "ca.", "jp.", "global.", "us-gov."}

// foundation returns the id of the foundation model for the model name of a caller. It is the last
// segment of an ARN, without the prefix of a region.
//
//	us.anthropic.claude-sonnet-4-5-20250929-v1:0 → anthropic.claude-sonnet-4-5-20250929-v1:0
//	arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0 → cohere.rerank-v3-5:0
//
// The ARNs of provisioned models and of the caller's own inference profiles do not contain the
// model: the result for them has no family. See profiles.
func foundation(model string) string {
	if plain, err := url.PathUnescape(model); err == nil {
		model = plain
	}
	if strings.HasPrefix(model, "arn:") {
		model = model[strings.LastIndexByte(model, '/')+1:]
	}
	for _, r := range regions {
		if rest, ok := strings.CutPrefix(model, r); ok {
			return rest
		}
	}
	return model
}

// familyOf returns the maker of a model: "anthropic"; "" when the name does not contain it.
func familyOf(model string) string {
	family, _, ok := strings.Cut(foundation(model), ".")
	if !ok {
		return ""
	}
	return family
}

// uncached lists the Claude models that do not support cache points.
var uncached = [...]string{
	"anthropic.claude-v2", "anthropic.claude-instant", "anthropic.claude-3-opus", "anthropic.claude-3-sonnet", "anthropic.claude-3-haiku",
	"anthropic.claude-3-5-sonnet-20240620",
}

// CachesPrompts reports whether a model supports cache points. Other models reject a call with cache
// points, which coding agents send. A model of unknown family, such as an ARN, counts as supported.
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, read 2026-11;
// github.com/BerriAI/litellm/pull/39210, of 2026-09-01.
func CachesPrompts(model string) bool {
	id := foundation(model)
	switch familyOf(model) {
	case "":
		return true
	case amazon:
		return strings.HasPrefix(id, "amazon.nova")
	case anthropic:
		return !slices.ContainsFunc(uncached[:], func(old string) bool { return strings.HasPrefix(id, old) })
	}
	return false
}

// CachesForAnHour reports whether cache points of a model may have a lifetime. Claude accepts one
// from version 4.5 on; other models reject it. A model of unknown family counts as supported.
// Source: https://aws.amazon.com/about-aws/whats-new/2026/01/amazon-bedrock-one-hour-duration-prompt-caching/
// and the errors in https://github.com/earendil-works/pi/pull/1570, of 2026-02-20.
func CachesForAnHour(model string) bool {
	switch familyOf(model) {
	case "":
		return true
	case anthropic:
		m := claude.ParseModel(model)
		return m.Major == 0 || m.Since(4, 5)
	}
	return false
}

// invoked lists the chat models that Converse does not support.
// Source: contract/provider-transforms.md 3.1.
var invoked = [...]string{"cohere.command-text-v14", "cohere.command-light-text-v14", "ai21.j2-mid-v1", "ai21.j2-ultra-v1"}

func isInvoked(model string) bool {
	id := foundation(model)
	for _, name := range invoked {
		if strings.HasPrefix(id, name) { // a version may follow: ":7:4k"
			return true
		}
	}
	return false
}
