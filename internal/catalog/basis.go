package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"

	"sluice/internal/llm"
)

// Basis is what a bill depends on beside the usage of a call: what was asked for, and
// where. With both a call can be billed again. The zero Basis is that of most calls.
type Basis struct {
	Model      string    `json:"model,omitempty"`          // as price lists name it, where that is not the model that was asked for
	Region     string    `json:"region,omitempty"`         // as in Units
	Execution  Execution `json:"execution_mode,omitempty"` // that was asked for, unless it is Standard or was not given
	Characters int64     `json:"characters,omitempty"`     // of text that was to be spoken, where no usage was reported
	Images     []Images  `json:"images,omitempty"`         // that were to be made, where no usage was reported
	// What follows is as in llm.Usage.
	CachedAudio  int64 `json:"cached_audio,omitempty"`
	CachedImages int64 `json:"cached_images,omitempty"`
	FreeInput    int64 `json:"free_input,omitempty"`
	FreeOutput   int64 `json:"free_output,omitempty"`

	CodeMemory string  `json:"code_memory,omitempty"` // as in llm.Usage
	Other      []Other `json:"other,omitempty"`       // that were counted and that a usage keeps no place for: pages
}

// NewBasis is that of a call of an endpoint with its limits and what it used. Model is as
// price lists name it, asked the one that was asked for.
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

// others are the units of a usage that it keeps no place for, by the names of price lists.
func others(used *llm.Usage) (list []Other) {
	for u, n := range used.Units {
		if n > 0 {
			list = append(list, Other{llm.Unit(u).String(), n})
		}
	}
	return list
}

// Units are what is billed of a usage at an endpoint. The tier that the provider names
// counts before the one that was asked for. Tokens that an endpoint of images answers
// with are those of images, and those that one of speech does are those of sound.
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
	if ep == llm.CreateSpeech { // OpenAI's stream of speech tells their number, not their kind
		u.AudioOutput, u.Output = u.AudioOutput+u.Output, 0
	}
	return u
}

// Empty reports whether there is nothing to keep of the basis.
func (b *Basis) Empty() bool {
	return b.Model == "" && b.Region == "" && b.Execution == "" && b.CodeMemory == "" && b.Characters|b.CachedAudio|b.CachedImages|b.FreeInput|b.FreeOutput == 0 && len(b.Images)+len(b.Other) == 0
}

// Text is the form in which records keep the basis: JSON, empty for an empty one.
func (b *Basis) Text() string {
	if b.Empty() {
		return ""
	}
	text, _ := json.Marshal(b) // strings and numbers alone: cannot fail
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
