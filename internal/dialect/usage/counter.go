package usage

import (
	"strconv"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Counter collects the metrics of usage objects in any provider's format. A repeated metric
// replaces the former value, because the events of a stream report growing totals.
type Counter struct {
	Found            llm.Usage
	total            bool // the provider reported a total
	apart            bool // input_tokens excludes cached tokens, as Anthropic counts
	searchesReported bool // the provider reported the number of searches
	fee              bool // the provider charges a fee for the search of the call

	PassedThrough           bool              // the response is passed through and may use its provider's own format
	paid                    llm.Usage         // usage that Cohere bills
	compacted               llm.Usage         // usage of summaries that the provider made during the call
	tools                   int64             // input tokens from tool results, in addition to InputTokens
	outputExcludesReasoning bool              // OutputTokens excludes ReasoningTokens
	gemini                  bool              // the model is one of Google's
	grounds                 groundingMetadata // of a response in Google's own format
	always                  bool              // the model searches the web for each response
	preview                 bool              // the call has OpenAI's first web search tool
}

// NewCounter returns an empty counter for responses of that endpoint.
func NewCounter(ep llm.Endpoint) Counter {
	return Counter{apart: ep == llm.Messages, PassedThrough: ep == llm.Proxy}
}

// Read reads one raw usage object. It ignores null and anything else that is not an object.
// Source: contract/provider-transforms.md 1.3.
func (c *Counter) Read(raw []byte) {
	for name, val := range jsonedit.Members(raw) {
		if c.field(name, val) {
			c.Found.Reported = true
		}
	}
}

// field reads one member and reports whether it is a metric that the gateway counts.
func (c *Counter) field(name, val []byte) bool {
	switch string(name) {
	case `"prompt_tokens"`, `"input_tokens"`:
		return count(val, &c.Found.InputTokens)
	case `"completion_tokens"`, `"output_tokens"`:
		return count(val, &c.Found.OutputTokens)
	case `"total_tokens"`:
		if count(val, &c.Found.TotalTokens) {
			c.total = true
		}
		return c.total
	case `"prompt_tokens_details"`, `"input_tokens_details"`, `"input_token_details"`:
		c.inputDetails(val)
	case `"completion_tokens_details"`, `"output_tokens_details"`, `"output_token_details"`:
		c.outputDetails(val)
	case `"cache_read_input_tokens"`, `"prompt_cache_hit_tokens"`, `"cached_tokens"`:
		return count(val, &c.Found.CachedTokens)
	case `"cache_creation_input_tokens"`:
		return count(val, &c.Found.CacheWriteTokens)
	case `"cache_creation"`:
		hour, _ := jsonedit.Find(val, "ephemeral_1h_input_tokens")
		return count(hour, &c.Found.CacheHourTokens)
	case `"service_tier"`, `"speed"`, `"serviceTier"`, `"trafficType"`:
		c.tier(val)
	case `"inference_geo"`:
		c.region(val)
	case `"iterations"`:
		c.iterations(val)
	case `"image_gen"`:
		return c.imageCount(val)
	case `"pages_processed"`:
		return count(val, &c.Found.Pages)
	case `"seconds"`, `"prompt_audio_seconds"`:
		return seconds(val, &c.Found.AudioSeconds)
	default:
		return c.searched(name, val) || c.PassedThrough && c.readNative(name, val)
	}
	return false
}

func (c *Counter) inputDetails(raw []byte) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"cached_tokens"`, `"cache_read_input_tokens"`: // the latter of Perplexity
			count(val, &c.Found.CachedTokens)
		case `"cache_write_tokens"`, `"cache_creation_input_tokens"`:
			count(val, &c.Found.CacheWriteTokens)
		case `"audio_tokens"`:
			count(val, &c.Found.InputAudioTokens)
		case `"image_tokens"`:
			count(val, &c.Found.InputImageTokens)
		case `"cached_tokens_details"`:
			c.cachedDetails(val)
		}
	}
}

// cachedDetails reads which of the cached tokens are not text:
// {"text_tokens":64,"audio_tokens":832,"image_tokens":0}.
// Source: https://platform.openai.com/docs/api-reference/realtime-server-events/response/done,
// read 2026-11.
func (c *Counter) cachedDetails(raw []byte) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"audio_tokens"`:
			count(val, &c.Found.CachedAudioTokens)
		case `"image_tokens"`:
			count(val, &c.Found.CachedImageTokens)
		}
	}
}

func (c *Counter) outputDetails(raw []byte) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"reasoning_tokens"`, `"thinking_tokens"`:
			count(val, &c.Found.ReasoningTokens)
		case `"audio_tokens"`:
			count(val, &c.Found.OutputAudioTokens)
		case `"image_tokens"`:
			count(val, &c.Found.OutputImageTokens)
		}
	}
}

// Usage is the total in OpenAI's way of counting: the input includes cached tokens and a total
// is always present.
func (c *Counter) Usage() llm.Usage {
	u := c.Found
	u.InputTokens += c.tools
	if c.outputExcludesReasoning {
		u.OutputTokens += u.ReasoningTokens
	}
	switch {
	case !c.paid.Reported:
	case u.InputTokens+u.OutputTokens == 0:
		u.InputTokens, u.OutputTokens = c.paid.InputTokens, c.paid.OutputTokens
	default:
		u.FreeInputTokens, u.FreeOutputTokens = max(0, u.InputTokens-c.paid.InputTokens), max(0, u.OutputTokens-c.paid.OutputTokens)
	}
	if c.apart {
		u.InputTokens += u.CachedTokens + u.CacheWriteTokens
	}
	if c.compacted.Reported {
		u = u.Add(c.compacted)
	}
	u.SearchUnits = max(u.SearchUnits, c.grounds.searches())
	if (c.fee || c.always && !c.searchesReported) && u.SearchUnits == 0 { // a call of Perplexity's has one search, which it reports only for its research models
		u.SearchUnits = 1
	}
	if c.preview && u.SearchUnits > 0 {
		u.SearchContext = "preview"
	}
	if u.CodeSessions == 0 {
		u.CodeMemory = ""
	}
	switch {
	case c.isReasoningInTotalOnly():
		u.ReasoningTokens = u.TotalTokens - u.InputTokens - u.OutputTokens
		u.OutputTokens += u.ReasoningTokens
	case c.isReasoningAdditional():
		u.OutputTokens += u.ReasoningTokens
		u.TotalTokens = u.InputTokens + u.OutputTokens
	case !c.total:
		u.TotalTokens = u.InputTokens + u.OutputTokens
	case u.InputTokens+u.OutputTokens == 0:
		u.InputTokens = u.TotalTokens // embeddings and rerank that report only a total use it all as input
	}
	return u
}

// count reads a number of tokens. Some providers write 12.0, and some -1 for unknown.
func count(raw []byte, to *int64) bool {
	if len(raw) == 0 {
		return false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, ok := number(raw)
		if !ok {
			return false
		}
		n = int64(f)
	}
	if n < 0 || n > llm.MaxCount {
		return false
	}
	*to = n
	return true
}

// seconds reads a duration in seconds, a number or, as the specification has it, a string.
func seconds(raw []byte, to *float64) bool {
	if s, ok := jsonedit.Unquote(raw); ok {
		raw = []byte(s)
	}
	f, ok := number(raw)
	if ok {
		*to = f
	}
	return ok
}

// number reads a number from 0 to the maximum that a call can use. Go also parses NaN, which
// is not JSON; the comparisons reject it.
func number(raw []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil && f >= 0 && f <= llm.MaxCount
}

// Count parses a number of tokens in a response: 12, or 12.0 as some providers write it. Ok is
// false for anything else, for example -1.
func Count(raw []byte) (n int64, ok bool) {
	ok = count(raw, &n)
	return n, ok
}
