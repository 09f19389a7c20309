package catalog

import (
	"math"
	"time"

	"sluice/internal/llm"
)

// Units are what a call used, in whole numbers that do not overlap: a token counts in one
// place. What is negative counts as nothing. They are all that a bill needs beside a
// Tariff, so that a call whose Units were kept can be billed again at other prices.
//
// How tokens are told apart follows what a tariff has prices for: see docs/pricing.md.
// Source: contract/content-and-observability.md 6.4.
type Units struct {
	StartedAt time.Time `json:"at,omitzero"`              // when the call began, for prices by the hour; zero: unknown, which is a peak hour
	Region    string    `json:"region,omitempty"`         // "eu"; empty: the default
	Execution Execution `json:"execution_mode,omitempty"` // empty: Standard

	Input        int64 `json:"input,omitempty"`          // tokens that are in no other count
	CacheRead    int64 `json:"cache_read,omitempty"`     // tokens of text read from the provider's prompt cache
	CacheWrite5m int64 `json:"cache_write_5m,omitempty"` // tokens written to it, for as long as is usual
	CacheWrite1h int64 `json:"cache_write_1h,omitempty"` // tokens written to it for an hour
	Output       int64 `json:"output,omitempty"`
	Reasoning    int64 `json:"reasoning,omitempty"`
	Citation     int64 `json:"citation,omitempty"` // tokens of what was found and cited; free where they have no price

	AudioInput     int64 `json:"audio_input,omitempty"` // tokens, as all that follow
	AudioCacheRead int64 `json:"audio_cache_read,omitempty"`
	AudioOutput    int64 `json:"audio_output,omitempty"`
	ImageInput     int64 `json:"image_input,omitempty"`
	ImageCacheRead int64 `json:"image_cache_read,omitempty"`
	ImageOutput    int64 `json:"image_output,omitempty"`

	AudioMilli int64 `json:"audio_ms,omitempty"`   // milliseconds of audio that were transcribed, where no tokens were counted
	Characters int64 `json:"characters,omitempty"` // of text that was spoken, where no tokens were counted

	Requests      int64    `json:"requests,omitempty"` // 1 for a call; what fixed costs are multiplied with
	Searches      int64    `json:"searches,omitempty"`
	SearchContext string   `json:"search_context,omitempty"` // as in llm.Usage; empty: not said
	Images        []Images `json:"images,omitempty"`         // that were made
	Other         []Other  `json:"other,omitempty"`          // additional units by the names of the price list

	// CacheHit says that the answer came from the gateway's own cache: the call costs
	// nothing, and the bill says what was saved.
	CacheHit bool `json:"cache_hit,omitempty"`
}

// Execution is how a call is executed, which may set its price. What is none of the five
// is Standard.
// Source: contract/content-and-observability.yaml, CustomPricing.
type Execution string

// The modes of execution.
const (
	Standard Execution = "standard"
	Batch    Execution = "batch"
	Flex     Execution = "flex"
	Priority Execution = "priority"
	Fast     Execution = "fast"
)

// Images are pictures of one kind. What is empty or has no price of its own is priced as
// "default".
type Images struct {
	Quality string `json:"quality,omitempty"` // "hd"
	Size    string `json:"size,omitempty"`    // "1024x1024"
	Count   int64  `json:"count"`
}

// Other is a count of an additional unit.
type Other struct {
	Name  string `json:"name"` // "file_search", "video_seconds"
	Count int64  `json:"count"`
}

// Count makes Units of one call of what a provider reported. Providers that count cached,
// written, audio, image and reasoning tokens twice, such as OpenAI, are set right: a part is
// never larger than what is left of its whole.
// The time, region, characters, images and further units are the caller's to add.
func Count(u llm.Usage) Units {
	input, out := max(0, u.InputTokens), max(0, u.OutputTokens)
	part(&input, u.FreeInputTokens)
	part(&out, u.FreeOutputTokens)
	units := Units{
		Execution: Execution(u.Tier), Requests: 1, Searches: u.SearchUnits, SearchContext: u.SearchContext, Citation: u.CitationTokens,
		CacheRead: part(&input, u.CachedTokens), CacheWrite5m: part(&input, u.CacheWriteTokens),
		Reasoning: part(&out, u.ReasoningTokens), AudioOutput: part(&out, u.OutputAudioTokens), ImageOutput: part(&out, u.OutputImageTokens),
	}
	units.AudioCacheRead = part(&units.CacheRead, min(u.CachedAudioTokens, u.InputAudioTokens))
	units.ImageCacheRead = part(&units.CacheRead, min(u.CachedImageTokens, u.InputImageTokens))
	units.AudioInput = part(&input, u.InputAudioTokens-units.AudioCacheRead)
	units.ImageInput = part(&input, u.InputImageTokens-units.ImageCacheRead)
	units.Other = tools(&u)
	units.CacheWrite1h = part(&units.CacheWrite5m, u.CacheHourTokens)
	units.Input, units.Output = input, out
	if max(0, u.InputTokens)+max(0, u.OutputTokens) == 0 {
		units.AudioMilli = milli(u.AudioSeconds)
	}
	return units
}

// The names that price lists have for what tools of providers did.
const (
	FileSearch    = "file_search"
	CodeExecution = "code_execution"
)

// CodeExecutionIn is the name of code in a container with that much memory, "4g" or "" for
// as much as is usual. Where that has no price it costs what CodeExecution does.
// Source: https://developers.openai.com/api/docs/pricing, read 2026-11.
func CodeExecutionIn(memory string) string {
	if memory == "" {
		return CodeExecution
	}
	return CodeExecution + "_" + memory
}

// tools are the calls of tools that providers bill apart, by the names of price lists; nil
// for none.
func tools(u *llm.Usage) (list []Other) {
	for _, t := range [...]Other{{FileSearch, u.FileSearches}, {CodeExecutionIn(u.CodeMemory), u.CodeSessions}} {
		if t.Count > 0 {
			list = append(list, t)
		}
	}
	return list
}

// part takes n off a whole, or what there is.
func part(remaining *int64, n int64) int64 {
	n = min(max(0, n), *remaining)
	*remaining -= n
	return n
}

// milli is a length of time in milliseconds; one that is no number is none.
func milli(seconds float64) int64 {
	const longest = 1e12 // milliseconds: thirty years
	if !(seconds > 0) {
		return 0
	}
	return int64(math.Round(min(seconds*1000, longest)))
}
