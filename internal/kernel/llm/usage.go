package llm

import "cmp"

// Usage is the usage of a call as the provider reported it. Counts are tokens unless stated
// otherwise. A count that was not reported is 0. InputTokens includes the cached, cache-write,
// audio and image tokens. OutputTokens includes the reasoning, audio and image tokens. OpenAI
// counts in the same way.
// Source: https://platform.openai.com/docs/api-reference/chat/object, read 2026-11.
type Usage struct {
	InputTokens       int64 `json:"input_tokens,omitempty"`
	OutputTokens      int64 `json:"output_tokens,omitempty"`
	TotalTokens       int64 `json:"total_tokens,omitempty"`
	CachedTokens      int64 `json:"cached_tokens,omitempty"`      // read from the provider's prompt cache
	CacheWriteTokens  int64 `json:"cache_write_tokens,omitempty"` // written to the prompt cache
	CacheHourTokens   int64 `json:"cache_hour_tokens,omitempty"`  // of those, written for an hour instead of minutes
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
	InputAudioTokens  int64 `json:"input_audio_tokens,omitempty"`
	OutputAudioTokens int64 `json:"output_audio_tokens,omitempty"`
	InputImageTokens  int64 `json:"input_image_tokens,omitempty"`  // of images that the model read
	OutputImageTokens int64 `json:"output_image_tokens,omitempty"` // of images that the model produced
	// CachedAudioTokens and CachedImageTokens are the audio and image tokens in CachedTokens.
	// InputAudioTokens and InputImageTokens include them. They are stored with the cost.
	CachedAudioTokens int64 `json:"-"`
	CachedImageTokens int64 `json:"-"`
	// FreeInputTokens and FreeOutputTokens are the tokens in InputTokens and OutputTokens that
	// the provider does not bill, such as those that Cohere adds itself. They are stored with
	// the cost.
	FreeInputTokens  int64 `json:"-"`
	FreeOutputTokens int64 `json:"-"`
	// SearchUnits counts what the provider bills for searches: units of a rerank, queries or
	// calls of a search tool, or sources that it read.
	SearchUnits  int64   `json:"search_units,omitempty"`
	FileSearches int64   `json:"file_searches,omitempty"` // of the caller's files, by a tool of the provider
	CodeSessions int64   `json:"code_sessions,omitempty"` // containers in which the provider ran code of the model
	Pages        int64   `json:"pages,omitempty"`         // of documents that the provider read
	AudioSeconds float64 `json:"audio_seconds,omitempty"` // transcription billed by time
	// CitationTokens counts the tokens of retrieved and cited content. No other count includes
	// them.
	CitationTokens int64 `json:"citation_tokens,omitempty"`
	// CostNano is the cost of the call as reported by the provider, in billionths of a US
	// dollar: 5023000 for 0.005023. 0 means that it is not reported.
	CostNano int64 `json:"cost_nano,omitempty"`
	// SearchContext is the context size of a search where that sets its price: "low", "medium"
	// or "high", or "preview" for a search by OpenAI's tool of that name. Empty means not
	// reported.
	SearchContext string `json:"search_context,omitempty"`
	// Tier is the service tier that the provider reports where that sets the price: "batch",
	// "flex", "priority", "fast" or UsualTier. Empty means not reported.
	Tier string `json:"tier,omitempty"`
	// Region is the region that the provider reports where that sets the price: "us". Empty
	// means not reported, or any region. It is stored with the cost.
	Region string `json:"-"`
	// CodeMemory is the memory of the containers of CodeSessions where that sets their price:
	// "4g", "16g" or "64g". Empty means the default. It is stored with the cost.
	CodeMemory string `json:"-"`
	// Units are the counts of all other quantities, by Unit. They are stored with the cost.
	Units    [UnitCount]int64 `json:"-"`
	Reported bool             `json:"reported"` // false: the provider reported no usage
}

// UsualTier is the Tier of a call that was served at the standard price, whatever tier was
// requested.
const UsualTier = "standard"

// Add adds two usages, for a stream that continues on a second target. SearchContext, Tier,
// Region and CodeMemory come from v.
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

// MaxCount is more than any call uses. A larger count is an error of the provider and must not
// overflow a sum.
const MaxCount = 1 << 50

// Bounded returns the usage with every count limited to 0 to MaxCount. Seconds that are NaN
// become 0.
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
