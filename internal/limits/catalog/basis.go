package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"

	"sluice/internal/kernel/llm"
)

// Basis contains what the cost of a call depends on in addition to its usage: what was
// requested, and where. With both the cost can be calculated again. Most calls have the zero
// Basis.
type Basis struct {
	Model      string    `json:"model,omitempty"`          // name in price lists, if it differs from the requested model
	Region     string    `json:"region,omitempty"`         // as in Units
	Execution  Execution `json:"execution_mode,omitempty"` // the requested mode, unless it is Standard or was not given
	Characters int64     `json:"characters,omitempty"`     // of text to be spoken, if no usage was reported
	Images     []Images  `json:"images,omitempty"`         // to be generated, if no usage was reported
	// The following fields are as in llm.Usage.
	CachedAudio  int64 `json:"cached_audio,omitempty"`
	CachedImages int64 `json:"cached_images,omitempty"`
	FreeInput    int64 `json:"free_input,omitempty"`
	FreeOutput   int64 `json:"free_output,omitempty"`

	CodeMemory string  `json:"code_memory,omitempty"` // as in llm.Usage
	Other      []Other `json:"other,omitempty"`       // other counted units, such as pages

	// Fixed reports that the price is not from a price list, so a correction of prices leaves it.
	Fixed bool `json:"fixed,omitempty"`
}

// NewBasis returns the basis of a call of an endpoint with its limits and usage. model is the
// name in price lists, requested the model that was requested.
func NewBasis(ep llm.Endpoint, model, requested string, limits *Limits, used *llm.Usage) Basis {
	b := Basis{
		Region: cmp.Or(used.Region, limits.Region), CachedAudio: used.CachedAudioTokens, CachedImages: used.CachedImageTokens,
		FreeInput: used.FreeInputTokens, FreeOutput: used.FreeOutputTokens, CodeMemory: used.CodeMemory, Other: others(used),
	}
	if model != requested {
		b.Model = model
	}
	if limits.Execution != Standard && used.Tier != llm.UsualTier {
		b.Execution = limits.Execution
	}
	switch {
	case used.Reported:
	case ep == llm.ImageGenerate || ep == llm.ImageEdit:
		b.Images = limits.Images
	case ep == llm.CreateSpeech:
		b.Characters = limits.Characters
	}
	return b
}

// others returns the units in a usage, with the names of price lists.
func others(used *llm.Usage) (list []Other) {
	for u, n := range used.Units {
		if n > 0 {
			list = append(list, Other{llm.Unit(u).String(), n})
		}
	}
	return list
}

// Units returns what is billed for a usage at an endpoint. The tier that the provider reports
// takes precedence over the requested one. Output tokens of an image endpoint count as image
// tokens, and those of a speech endpoint as audio tokens.
func (b *Basis) Units(ep llm.Endpoint, used *llm.Usage) Units {
	counted := *used
	counted.CachedAudioTokens, counted.CachedImageTokens = b.CachedAudio, b.CachedImages
	counted.FreeInputTokens, counted.FreeOutputTokens, counted.CodeMemory = b.FreeInput, b.FreeOutput, b.CodeMemory
	u := Count(counted)
	u.Region, u.Characters, u.Images = b.Region, b.Characters, b.Images
	u.Other = append(u.Other, b.Other...)
	if used.Tier == "" {
		u.Execution = b.Execution
	}
	if ep == llm.ImageGenerate || ep == llm.ImageEdit {
		u.ImageOutput, u.Output = u.ImageOutput+u.Output, 0
	}
	if ep == llm.CreateSpeech { // OpenAI's speech stream reports their number, not their kind
		u.AudioOutput, u.Output = u.AudioOutput+u.Output, 0
	}
	return u
}

// Empty reports whether the basis contains nothing to store.
func (b *Basis) Empty() bool {
	return !b.Fixed && b.Model == "" && b.Region == "" && b.Execution == "" && b.CodeMemory == "" && b.Characters|b.CachedAudio|b.CachedImages|b.FreeInput|b.FreeOutput == 0 && len(b.Images)+len(b.Other) == 0
}

// Text returns the stored form of the basis: JSON, or an empty string for an empty basis.
func (b *Basis) Text() string {
	if b.Empty() {
		return ""
	}
	text, _ := json.Marshal(b) // only strings and numbers: cannot fail
	return string(text)
}

// ReadBasis is the inverse of Text.
func ReadBasis(text string) (b Basis, err error) {
	if text == "" {
		return b, nil
	}
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return b, fmt.Errorf("read price basis: %w", err)
	}
	return b, nil
}
