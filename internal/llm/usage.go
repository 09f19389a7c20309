package llm

import "cmp"

// Usage is what a call used, as the provider reported it. Counts are tokens
// unless said otherwise; a count that was not reported is 0. InputTokens contains
// the cached, cache-write, audio and image ones, OutputTokens contains the reasoning,
// audio and image ones, as OpenAI counts.
// Source: https://platform.openai.com/docs/api-reference/chat/object, read 2026-11.
type Usage struct {
	InputTokens       int64 `json:"input_tokens,omitempty"`
	OutputTokens      int64 `json:"output_tokens,omitempty"`
	TotalTokens       int64 `json:"total_tokens,omitempty"`
	CachedTokens      int64 `json:"cached_tokens,omitempty"`      // read from the provider's prompt cache
	CacheWriteTokens  int64 `json:"cache_write_tokens,omitempty"` // written to it
	CacheHourTokens   int64 `json:"cache_hour_tokens,omitempty"`  // of those, written for an hour and not for minutes
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
	InputAudioTokens  int64 `json:"input_audio_tokens,omitempty"`
	OutputAudioTokens int64 `json:"output_audio_tokens,omitempty"`
	InputImageTokens  int64 `json:"input_image_tokens,omitempty"`  // of pictures that were shown to the model
	OutputImageTokens int64 `json:"output_image_tokens,omitempty"` // of pictures that it made
	// CachedAudioTokens and CachedImageTokens are those of CachedTokens that are of sound and of
	// pictures; InputAudioTokens and InputImageTokens contain them. They are kept with the bill.
	CachedAudioTokens int64 `json:"-"`
	CachedImageTokens int64 `json:"-"`
	// FreeInputTokens and FreeOutputTokens are those of InputTokens and OutputTokens that the
	// provider says it does not bill, as Cohere what it adds itself. They are kept with the bill.
	FreeInputTokens  int64 `json:"-"`
	FreeOutputTokens int64 `json:"-"`
	// SearchUnits are what the provider bills of its searches: units of a rerank, queries
	// or calls of a search tool, sources that it read.
	SearchUnits  int64   `json:"search_units,omitempty"`
	FileSearches int64   `json:"file_searches,omitempty"` // of the caller's files, by a tool of the provider
	CodeSessions int64   `json:"code_sessions,omitempty"` // containers in which the provider ran code of the model's
	Pages        int64   `json:"pages,omitempty"`         // of documents that were read
	AudioSeconds float64 `json:"audio_seconds,omitempty"` // transcription billed by time
	// CitationTokens are those of what was found and cited; they are in no other count.
	CitationTokens int64 `json:"citation_tokens,omitempty"`
	// CostNano is what the provider itself says that the call cost, in billionths of a US
	// dollar: 5023000 for 0.005023; 0: it does not say.
	CostNano int64 `json:"cost_nano,omitempty"`
	// SearchContext is how much a search looked at where that sets its price: "low", "medium"
	// or "high", or "preview" for a search by OpenAI's tool of that name; empty: not said.
	SearchContext string `json:"search_context,omitempty"`
	// Tier is how the provider says that it served the call where that sets its price:
	// "batch", "flex", "priority", "fast" or UsualTier; empty: not said.
	Tier string `json:"tier,omitempty"`
	// Region is where the provider says that it ran the call where that sets its price: "us";
	// empty: not said, or anywhere. It is kept with the bill.
	Region string `json:"-"`
	// CodeMemory is how much memory the containers of CodeSessions have where that sets their
	// price: "4g", "16g" or "64g"; empty: as much as is usual. It is kept with the bill.
	CodeMemory string `json:"-"`
	// Units are counts of what has no other place here, by Unit. They are kept with the bill.
	Units    [UnitCount]int64 `json:"-"`
	Reported bool             `json:"reported"` // false: the provider said nothing
}

// UsualTier is the Tier of a call that was served at the usual price, whatever was asked
// for.
const UsualTier = "standard"

// Add sums two usages, for a stream continued on a second target, whose SearchContext, Tier,
// Region and CodeMemory count.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens,
		TotalTokens: u.TotalTokens + v.TotalTokens, CachedTokens: u.CachedTokens + v.CachedTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens, CacheHourTokens: u.CacheHourTokens + v.CacheHourTokens, ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		InputAudioTokens: u.InputAudioTokens + v.InputAudioTokens, OutputAudioTokens: u.OutputAudioTokens + v.OutputAudioTokens,
		InputImageTokens: u.InputImageTokens + v.InputImageTokens, OutputImageTokens: u.OutputImageTokens + v.OutputImageTokens,
		CachedAudioTokens: u.CachedAudioTokens + v.CachedAudioTokens, CachedImageTokens: u.CachedImageTokens + v.CachedImageTokens,
		FreeInputTokens: u.FreeInputTokens + v.FreeInputTokens, FreeOutputTokens: u.FreeOutputTokens + v.FreeOutputTokens,
		SearchUnits: u.SearchUnits + v.SearchUnits, FileSearches: u.FileSearches + v.FileSearches, CodeSessions: u.CodeSessions + v.CodeSessions, Pages: u.Pages + v.Pages,
		AudioSeconds: u.AudioSeconds + v.AudioSeconds, CitationTokens: u.CitationTokens + v.CitationTokens,
		CostNano: u.CostNano + v.CostNano, SearchContext: cmp.Or(v.SearchContext, u.SearchContext), Tier: cmp.Or(v.Tier, u.Tier),
		Region: cmp.Or(v.Region, u.Region), CodeMemory: cmp.Or(v.CodeMemory, u.CodeMemory), Units: addUnits(u.Units, v.Units),
		Reported: u.Reported || v.Reported,
	}
}

// MaxCount is beyond what any call uses of anything; more is a slip of the provider, and
// must not overflow a sum.
const MaxCount = 1 << 50

// Bounded is the usage within what calls use: from 0 to MaxCount of each. Seconds that are no
// number are none.
func (u Usage) Bounded() Usage {
	for _, n := range [...]*int64{
		&u.InputTokens, &u.OutputTokens, &u.TotalTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.CacheHourTokens, &u.ReasoningTokens,
		&u.InputAudioTokens, &u.OutputAudioTokens, &u.InputImageTokens, &u.OutputImageTokens, &u.CachedAudioTokens, &u.CachedImageTokens, &u.FreeInputTokens, &u.FreeOutputTokens,
		&u.SearchUnits, &u.FileSearches, &u.CodeSessions, &u.Pages, &u.CitationTokens, &u.CostNano,
	} {
		*n = bounded(*n)
	}
	for i, n := range u.Units {
		u.Units[i] = bounded(n)
	}
	if !(u.AudioSeconds > 0) {
		u.AudioSeconds = 0
	}
	u.AudioSeconds = min(u.AudioSeconds, MaxCount)
	return u
}

func bounded(n int64) int64 { return min(max(n, 0), MaxCount) }
