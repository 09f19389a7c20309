package dialect

import (
	"bytes"
	"math"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// searched takes what a usage object says of searches and of their price, and reports
// whether it is a figure of ours. Each provider has a word of its own.
// Source: https://docs.perplexity.ai/api-reference/chat-completions-post,
// https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool,
// https://docs.x.ai/developers/tools/tool-usage-details, read 2026-11.
func (c *counts) searched(name, val []byte) bool {
	switch string(name) {
	case `"search_units"`, `"rerank_units"`, `"num_search_queries"`, `"num_sources_used"`:
		return count(val, &c.u.SearchUnits)
	case `"server_tool_use"`, `"server_side_tool_usage_details"`, `"web_search"`:
		return c.toolCalls(val)
	case `"citation_tokens"`:
		return count(val, &c.u.CitationTokens)
	case `"reasoning_tokens"`:
		return count(val, &c.u.ReasoningTokens)
	case `"search_context_size"`:
		return searchContext(val, &c.u.SearchContext)
	case `"cost"`:
		fee, _ := splice.Find(val, "request_cost")
		n, ok := number(fee)
		c.fee = ok && n > 0
		return cost(val, &c.u.CostNano)
	}
	return false
}

// toolCalls takes the calls of tools that providers run: those that search add up,
// {"web_search_requests":2,"code_execution_requests":1},
// {"web_search_calls":1,"x_search_calls":3,"file_search_calls":1,"code_interpreter_calls":2},
// {"num_requests":1}.
func (c *counts) toolCalls(raw []byte) bool {
	var searches int64
	searched, found := false, false
	for name, val := range splice.Members(raw) {
		var n int64
		switch string(name) {
		case `"web_search_requests"`, `"web_search_calls"`, `"x_search_calls"`, `"num_requests"`:
			if count(val, &n) {
				searches, searched = min(searches+n, llm.CountMost), true
			}
		case `"file_search_calls"`:
			found = count(val, &c.u.FileSearches) || found
		case `"code_execution_requests"`, `"code_interpreter_calls"`:
			found = count(val, &c.u.CodeSessions) || found
		}
	}
	if searched {
		c.u.SearchUnits, c.told = searches, true
	}
	return searched || found
}

// beside reports whether the thoughts stand beside the output. Perplexity counts those of its
// research so: it is the one that reports tokens of citations. xAI does, and whoever runs its
// models: there the total has them on top.
// Source: https://docs.x.ai/docs/key-information/consumption-and-rate-limits,
// https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/grok/capabilities/reasoning,
// read 2026-11.
func (c *counts) beside() bool {
	u := &c.u
	return u.ReasoningTokens > 0 && !c.thoughts && (u.CitationTokens > 0 || c.total && u.TotalTokens == u.InputTokens+u.OutputTokens+u.ReasoningTokens)
}

// untold reports whether thoughts are in the total alone: Google's endpoint in OpenAI's words
// counts those of Gemini nowhere else. Other providers have other things in a total: Databricks
// what came from the cache.
// Source: https://ai.google.dev/gemini-api/docs/openai, and
// https://discuss.ai.google.dev/t/question-with-usage-in-openai-compatibility/98760, read 2026-11.
func (c *counts) untold() bool {
	u := &c.u
	return c.gemini && c.total && !c.thoughts && u.ReasoningTokens == 0 && u.InputTokens+u.OutputTokens > 0 && u.TotalTokens > u.InputTokens+u.OutputTokens
}

// ofGemini reports whether a raw name is that of a model of Google's: "gemini-2.5-pro",
// "google/gemini-2.5-flash".
func ofGemini(model []byte) bool { return bytes.Contains(model, []byte("gemini")) }

// searchContext reads a word of a closed set: others set no known price.
func searchContext(raw []byte, to *string) bool {
	for _, word := range [...]string{"low", "medium", "high"} {
		if splice.IsName(raw, word) {
			*to = word
			return true
		}
	}
	return false
}

// cost reads {"total_cost":0.005023}, in US dollars unless it names another currency.
func cost(raw []byte, toNano *int64) bool {
	if currency, ok := splice.Find(raw, "currency"); ok && !splice.IsName(currency, "USD") {
		return false
	}
	total, _ := splice.Find(raw, "total_cost")
	dollars, ok := number(total)
	if !ok || dollars > costMax {
		return false
	}
	*toNano = int64(math.Round(dollars * nano))
	return true
}

const (
	nano    = 1e9
	costMax = 1e6 // dollars: beyond what any call costs
)
