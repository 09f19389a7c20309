package dialect

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// searched takes what a usage object says of searches and of their price, and reports
// whether it is a figure of ours. Each provider has a word of its own.
// Source: https://docs.perplexity.ai/api-reference/chat-completions-post,
// https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool,
// https://docs.x.ai/developers/tools/tool-usage-details, https://docs.x.ai/developers/cost-tracking, read 2026-11.
func (c *counts) searched(name, val []byte) bool {
	switch string(name) {
	case `"search_units"`, `"rerank_units"`, `"num_search_queries"`:
		return count(val, &c.u.SearchUnits)
	case `"num_sources_used"`: // of xAI, which counts the calls of its tools beside it
		return !c.searchesReported && count(val, &c.u.SearchUnits)
	case `"tool_calls_details"`:
		return c.invocations(val)
	case `"server_tool_use"`, `"server_side_tool_usage_details"`, `"web_search"`:
		return c.toolCalls(val)
	case `"citation_tokens"`:
		return count(val, &c.u.CitationTokens)
	case `"reasoning_tokens"`:
		return count(val, &c.u.ReasoningTokens)
	case `"search_context_size"`:
		return searchContext(val, &c.u.SearchContext)
	case `"cost_in_usd_ticks"`: // of xAI, in 10^-10 dollars; of pictures it says nothing else, which are counted here
		var ticks int64
		count(val, &ticks)
		c.u.CostNano = (ticks + 5) / 10
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
				searches, searched = min(searches+n, llm.MaxCount), true
			}
		case `"attachment_search_calls"`, `"document_search_calls"`:
			found = count(val, &c.u.Units[llm.AttachmentSearches]) || found
		case `"file_search_calls"`, `"collections_search_calls"`:
			found = count(val, &c.u.FileSearches) || found
		case `"code_execution_requests"`, `"code_interpreter_calls"`:
			found = count(val, &c.u.CodeSessions) || found
		}
	}
	if searched {
		c.u.SearchUnits, c.searchesReported = searches, true
	}
	return searched || found
}

// invocations takes the calls of tools as Perplexity tells them in its responses:
// {"search_web":{"invocation":1},"fetch_url":{"invocation":2}}.
// Source: https://docs.perplexity.ai/docs/agent-api, read 2026-11.
func (c *counts) invocations(raw []byte) (found bool) {
	for name, val := range splice.Members(raw) {
		if n, ok := splice.Find(val, "invocation"); ok {
			val = n
		}
		switch string(name) {
		case `"search_web"`, `"web_search"`:
			c.searchesReported = count(val, &c.u.SearchUnits) || c.searchesReported
			found = found || c.searchesReported
		default:
			if u, ok := invoked[string(name)]; ok {
				found = count(val, &c.u.Units[u]) || found
			}
		}
	}
	return found
}

// invoked are the tools that invocations counts beside searches of the web. Prices call what
// calls are named by the other way round.
var invoked = map[string]llm.Unit{
	`"fetch_url"`: llm.URLFetches, `"sandbox"`: llm.Sandboxes,
	`"search_people"`: llm.PeopleSearches, `"people_search"`: llm.PeopleSearches,
	`"search_finance"`: llm.FinanceSearches, `"finance_search"`: llm.FinanceSearches,
	`"search_images"`: llm.ImageSearches, `"image_search"`: llm.ImageSearches,
}

// imageCount takes what a model of pictures used, which OpenAI's tool asked and which is billed at
// that model's own prices:
// {"input_tokens":12,"input_tokens_details":{"text_tokens":12,"image_tokens":0},"output_tokens":196}.
func (c *counts) imageCount(raw []byte) bool {
	u := UsageOf(llm.ImageGenerate, raw)
	shown := min(u.InputImageTokens, u.InputTokens)
	c.u.Units[llm.DrawingTextInput], c.u.Units[llm.DrawingImageInput], c.u.Units[llm.DrawingOutput] = u.InputTokens-shown, shown, u.OutputTokens
	return u.InputTokens+u.OutputTokens > 0
}

// isReasoningAdditional reports whether the thoughts stand beside the output. Perplexity counts those of its
// research so: it is the one that reports tokens of citations. xAI does, and whoever runs its
// models: there the total has them on top.
// Source: https://docs.x.ai/docs/key-information/consumption-and-rate-limits,
// https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/grok/capabilities/reasoning,
// read 2026-11.
func (c *counts) isReasoningAdditional() bool {
	u := &c.u
	return u.ReasoningTokens > 0 && !c.outputExcludesReasoning && (u.CitationTokens > 0 || c.total && u.TotalTokens == u.InputTokens+u.OutputTokens+u.ReasoningTokens)
}

// isReasoningInTotalOnly reports whether thoughts are in the total alone: Google's endpoint in OpenAI's words
// counts those of Gemini nowhere else. Other providers have other things in a total: Databricks
// what came from the cache.
// Source: https://ai.google.dev/gemini-api/docs/openai, and
// https://discuss.ai.google.dev/t/question-with-usage-in-openai-compatibility/98760, read 2026-11.
func (c *counts) isReasoningInTotalOnly() bool {
	u := &c.u
	return c.gemini && c.total && !c.outputExcludesReasoning && u.ReasoningTokens == 0 && u.InputTokens+u.OutputTokens > 0 && u.TotalTokens > u.InputTokens+u.OutputTokens
}

// named takes the raw name of the model, for what its provider does not say otherwise.
func (c *counts) named(ep llm.Endpoint, model []byte) {
	c.gemini = c.gemini || bytes.Contains(model, []byte("gemini")) // "gemini-2.5-pro", "google/gemini-2.5-flash"
	if ep == llm.ChatComplete || c.through {
		c.always = c.always || SearchesAlways(string(model))
	}
}

// searchers are what the names have of models of OpenAI's that search the web once for each
// chat, which no usage tells: "gpt-4o-search-preview", "gpt-5-search-api-2025-10-14".
// Source: https://developers.openai.com/api/docs/guides/tools-web-search, read 2026-11.
var searchers = [...]string{"-search-preview", "-search-api"}

// SearchesAlways reports whether a model searches the web once for each chat.
func SearchesAlways(model string) bool {
	return slices.ContainsFunc(searchers[:], func(keyword string) bool { return strings.Contains(model, keyword) })
}

// searchContext reads a word of a closed set: others set no known price.
func searchContext(raw []byte, to *string) bool {
	for _, keyword := range [...]string{"low", "medium", "high"} {
		if splice.IsName(raw, keyword) {
			*to = keyword
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
	if !ok || dollars > maxCost {
		return false
	}
	*toNano = int64(math.Round(dollars * nano))
	return true
}

const (
	nano    = 1e9
	maxCost = 1e6 // dollars: beyond what any call costs
)
