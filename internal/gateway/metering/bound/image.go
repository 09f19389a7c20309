package bound

import (
	"strings"

	"sluice/internal/kernel/llm"
	"sluice/internal/provider"
)

// maxGPTImageTokens is the maximum number of tokens of an image by gpt-image-1: the largest size at high
// quality, plus three partial images.
// Source: https://platform.openai.com/docs/guides/image-generation, read 2026-11.
const maxGPTImageTokens = 6240 + 3*100

// maxTokensPerImage returns the maximum number of tokens of one image of the model, or 0 if it is
// not known.
func (c *Call) maxTokensPerImage(m *Models) int64 {
	ep, model := c.Endpoint, c.PriceName()
	if ep != llm.ImageGenerate && ep != llm.ImageEdit || c.Spec.Platform != provider.PlatformOpenAI || len(m.Fallbacks) > 0 {
		return 0
	}
	if model != "gpt-image-1" && model != "gpt-image-1-mini" && !strings.HasPrefix(model, "gpt-image-1-20") {
		return 0
	}
	return maxGPTImageTokens
}

// plainImage lists the members of a call without a model that OpenAI runs with dall-e-2. With any
// other member OpenAI may choose a newer model.
var plainImage = map[string]bool{`"prompt"`: true, `"n"`: true, `"size"`: true, `"response_format"`: true, `"user"`: true}

// defaultModel returns the model that OpenAI uses for a call without a model, or "" if it is not
// known.
// Source: https://platform.openai.com/docs/api-reference/moderations/create,
// https://platform.openai.com/docs/api-reference/images/create, read 2026-11.
func (c *Call) defaultModel() string {
	if c.Doc == nil || c.Spec == nil || c.Spec.ID != "openai" {
		return ""
	}
	if c.Endpoint == llm.Moderate {
		return "omni-moderation-latest"
	}
	if c.Endpoint != llm.ImageGenerate || len(c.Target.Default)+len(c.Target.Override) > 0 {
		return ""
	}
	for k := range c.Doc.Len() {
		if name, _ := c.Doc.Member(k); !plainImage[string(name)] {
			return ""
		}
	}
	return "dall-e-2"
}
