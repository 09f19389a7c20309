package dataplane

import (
	"strings"

	"sluice/internal/llm"
	"sluice/internal/provider"
)

// drawnMost is the maximum number of tokens of an image by gpt-image-1: the largest size at high
// quality, plus three partial images.
// Source: https://platform.openai.com/docs/guides/image-generation, read 2026-11.
const drawnMost = 6240 + 3*100

// drawn returns the maximum number of tokens of one image of the model, or 0 if it is not known.
func (a *attempt) drawn() int64 {
	ep, model := a.x.match.Endpoint, a.priceName()
	if ep != llm.ImageGenerate && ep != llm.ImageEdit || a.spec.Platform != provider.PlatformOpenAI || len(a.reservation.falls.list) > 0 {
		return 0
	}
	if model != "gpt-image-1" && model != "gpt-image-1-mini" && !strings.HasPrefix(model, "gpt-image-1-20") {
		return 0
	}
	return drawnMost
}

// plainImage lists the members of a call without a model that OpenAI runs with dall-e-2. With any
// other member OpenAI may choose a newer model.
var plainImage = map[string]bool{`"prompt"`: true, `"n"`: true, `"size"`: true, `"response_format"`: true, `"user"`: true}

// defaultModel returns the model that OpenAI uses for a call without a model, or "" if it is not
// known.
// Source: https://platform.openai.com/docs/api-reference/moderations/create,
// https://platform.openai.com/docs/api-reference/images/create, read 2026-11.
func (a *attempt) defaultModel() string {
	if a.x == nil || a.x.doc == nil || a.spec == nil || a.spec.ID != "openai" {
		return ""
	}
	switch a.x.match.Endpoint {
	case llm.Moderate:
		return "omni-moderation-latest"
	case llm.ImageGenerate:
		for k := range a.x.doc.Len() {
			if name, _ := a.x.doc.Member(k); !plainImage[string(name)] {
				return ""
			}
		}
		if len(a.target.Default)+len(a.target.Override) == 0 {
			return "dall-e-2"
		}
	}
	return ""
}
