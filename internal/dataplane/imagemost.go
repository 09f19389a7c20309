package dataplane

import (
	"strings"

	"sluice/internal/llm"
	"sluice/internal/provider"
)

// drawnMost are the most tokens of a picture that gpt-image-1 draws: of the largest size at high
// quality, and of three partial pictures before it.
// Source: https://platform.openai.com/docs/guides/image-generation, read 2026-11.
const drawnMost = 6240 + 3*100

// drawn is the most that one picture of the model takes; 0 where nobody says it.
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

// plainImage are the members of a call that OpenAI draws with dall-e-2 where it names no model:
// any other may be one of newer models alone, to which it goes then.
var plainImage = map[string]bool{`"prompt"`: true, `"n"`: true, `"size"`: true, `"response_format"`: true, `"user"`: true}

// defaultModel is the model that OpenAI takes where a call names none; empty where nobody knows.
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
