package catalog

import (
	"math"
	"time"

	"sluice/internal/kernel/llm"
)

// Units are what a call used, in whole numbers that do not overlap: each token counts in one
// field. Negative numbers count as 0. Together with a RateCard they determine the cost, so a
// call whose Units were stored can be billed again at other prices.
//
// How tokens are divided follows the prices of a RateCard: see docs/pricing.md.
// Source: contract/content-and-observability.md 6.4.
type Units struct {
	StartedAt time.Time `json:"at,omitzero"`              // when the call began, for prices by the hour; zero: unknown, which counts as a peak hour
	Region    string    `json:"region,omitempty"`         // "eu"; empty: the default
	Execution Execution `json:"execution_mode,omitempty"` // empty: Standard

	Input        int64 `json:"input,omitempty"`          // tokens that are not in another count
	CacheRead    int64 `json:"cache_read,omitempty"`     // tokens of text read from the provider's prompt cache
	CacheWrite5m int64 `json:"cache_write_5m,omitempty"` // tokens written to it for the usual time
	CacheWrite1h int64 `json:"cache_write_1h,omitempty"` // tokens written to it for an hour
	Output       int64 `json:"output,omitempty"`
	Reasoning    int64 `json:"reasoning,omitempty"`
	Citation     int64 `json:"citation,omitempty"` // tokens of cited search results; free if they have no price

	AudioInput     int64 `json:"audio_input,omitempty"` // the following counts are in tokens too
	AudioCacheRead int64 `json:"audio_cache_read,omitempty"`
	AudioOutput    int64 `json:"audio_output,omitempty"`
	ImageInput     int64 `json:"image_input,omitempty"`
	ImageCacheRead int64 `json:"image_cache_read,omitempty"`
	ImageOutput    int64 `json:"image_output,omitempty"`

	AudioMilli int64 `json:"audio_ms,omitempty"`   // milliseconds of transcribed audio, if tokens were not counted
	Characters int64 `json:"characters,omitempty"` // of text turned into speech, if tokens were not counted

	Requests      int64    `json:"requests,omitempty"` // 1 for a call; multiplies fixed costs
	Searches      int64    `json:"searches,omitempty"`
	SearchContext string   `json:"search_context,omitempty"` // as in llm.Usage; empty: not known
	Images        []Images `json:"images,omitempty"`         // that were generated
	Other         []Other  `json:"other,omitempty"`          // additional units by the names of the price list

	// CacheHit is set if the response came from the gateway's own cache. The call then costs
	// nothing, and the Cost contains what was saved.
	CacheHit bool `json:"cache_hit,omitempty"`
}

// Execution is the mode in which a call is executed, which may affect its price. Any value
// except the five below is Standard.
// Source: contract/content-and-observability.yaml, CustomPricing.
type Execution string

// These are the modes of execution.
const (
	Standard Execution = "standard"
	Batch    Execution = "batch"
	Flex     Execution = "flex"
	Priority Execution = "priority"
	Fast     Execution = "fast"
)

// Images is a number of images of one kind. A value that is empty or has no price of its own
// is priced as "default".
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

// Count returns the Units of one call from the usage that a provider reported. Some providers,
// such as OpenAI, include cached, written, audio, image and reasoning tokens in other counts
// too; Count subtracts them. A part is never larger than what remains of its total. The caller
// adds the time, region, characters, images and other units.
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

// These are the names in price lists for tools of providers.
const (
	FileSearch    = "file_search"
	CodeExecution = "code_execution"
)

// CodeExecutionIn returns the name of code execution in a container with that much memory,
// "4g", or "" for the default size. If it does not have a price, that of CodeExecution
// applies.
// Source: https://developers.openai.com/api/docs/pricing, read 2026-11.
func CodeExecutionIn(memory string) string {
	if memory == "" {
		return CodeExecution
	}
	return CodeExecution + "_" + memory
}

// tools returns the calls of tools that providers bill separately, by the names of price
// lists; nil for none.
func tools(u *llm.Usage) (list []Other) {
	for _, t := range [...]Other{{FileSearch, u.FileSearches}, {CodeExecutionIn(u.CodeMemory), u.CodeSessions}} {
		if t.Count > 0 {
			list = append(list, t)
		}
	}
	return list
}

// part subtracts n, or what remains if that is less, and returns the amount.
func part(remaining *int64, n int64) int64 {
	n = min(max(0, n), *remaining)
	*remaining -= n
	return n
}

// milli converts seconds to milliseconds; 0 if seconds is NaN or not positive.
func milli(seconds float64) int64 {
	const longest = 1e12 // milliseconds: thirty years
	if !(seconds > 0) {
		return 0
	}
	return int64(math.Round(min(seconds*1000, longest)))
}
