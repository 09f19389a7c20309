package usage

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// searched reads a member of a usage object that concerns searches and their price. It reports
// whether the member is a metric that the gateway counts. Each provider has its own name for it.
// Source: https://docs.perplexity.ai/api-reference/chat-completions-post,
// https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool,
// https://docs.x.ai/developers/tools/tool-usage-details, https://docs.x.ai/developers/cost-tracking, read 2026-11.
func (c *Counter) searched(name, val []byte) bool {
	switch string(name) {
	case `"search_units"`, `"rerank_units"`, `"num_search_queries"`:
		return count(val, &c.Found.SearchUnits)
	case `"num_sources_used"`: // of xAI, which also counts the calls of its tools
		return !c.searchesReported && count(val, &c.Found.SearchUnits)
	case `"tool_calls_details"`:
		return c.invocations(val)
	case `"server_tool_use"`, `"server_side_tool_usage_details"`, `"web_search"`:
		return c.toolCalls(val)
	case `"citation_tokens"`:
		return count(val, &c.Found.CitationTokens)
	case `"reasoning_tokens"`:
		return count(val, &c.Found.ReasoningTokens)
	case `"search_context_size"`:
		return searchContext(val, &c.Found.SearchContext)
	case `"cost_in_usd_ticks"`: // of xAI, in 10^-10 dollars; it is the only billing data of images, which are counted here
		var ticks int64
		count(val, &ticks)
		c.Found.CostNano = (ticks + 5) / 10
	case `"cost"`:
		fee, _ := jsonedit.Find(val, "request_cost")
		n, ok := number(fee)
		c.fee = ok && n > 0
		return cost(val, &c.Found.CostNano)
	}
	return false
}

// toolCalls reads the calls of tools that providers run. Search tools are added up:
// {"web_search_requests":2,"code_execution_requests":1},
// {"web_search_calls":1,"x_search_calls":3,"file_search_calls":1,"code_interpreter_calls":2},
// {"num_requests":1}.
func (c *Counter) toolCalls(raw []byte) bool {
	var searches int64
	searched, found := false, false
	for name, val := range jsonedit.Members(raw) {
		var n int64
		switch string(name) {
		case `"web_search_requests"`, `"web_search_calls"`, `"x_search_calls"`, `"num_requests"`:
			if count(val, &n) {
				searches, searched = min(searches+n, llm.MaxCount), true
			}
		case `"attachment_search_calls"`, `"document_search_calls"`:
			found = count(val, &c.Found.Units[llm.AttachmentSearches]) || found
		case `"file_search_calls"`, `"collections_search_calls"`:
			found = count(val, &c.Found.FileSearches) || found
		case `"code_execution_requests"`, `"code_interpreter_calls"`:
			found = count(val, &c.Found.CodeSessions) || found
		}
	}
	if searched {
		c.Found.SearchUnits, c.searchesReported = searches, true
	}
	return searched || found
}

// invocations reads tool calls as Perplexity reports them in its responses:
// {"search_web":{"invocation":1},"fetch_url":{"invocation":2}}.
// Source: https://docs.perplexity.ai/docs/agent-api, read 2026-11.
func (c *Counter) invocations(raw []byte) (found bool) {
	for name, val := range jsonedit.Members(raw) {
		if n, ok := jsonedit.Find(val, "invocation"); ok {
			val = n
		}
		switch string(name) {
		case `"search_web"`, `"web_search"`:
			c.searchesReported = count(val, &c.Found.SearchUnits) || c.searchesReported
			found = found || c.searchesReported
		default:
			if u, ok := invoked[string(name)]; ok {
				found = count(val, &c.Found.Units[u]) || found
			}
		}
	}
	return found
}

// invoked maps the tools that invocations counts in addition to web searches. Search tools have two
// names, because the price list reverses the word order of the names in calls.
var invoked = map[string]llm.Unit{
	`"fetch_url"`: llm.URLFetches, `"sandbox"`: llm.Sandboxes,
	`"search_people"`: llm.PeopleSearches, `"people_search"`: llm.PeopleSearches,
	`"search_finance"`: llm.FinanceSearches, `"finance_search"`: llm.FinanceSearches,
	`"search_images"`: llm.ImageSearches, `"image_search"`: llm.ImageSearches,
}

// imageCount reads the usage of an image model that OpenAI's image tool called. It is billed at the
// prices of that model:
// {"input_tokens":12,"input_tokens_details":{"text_tokens":12,"image_tokens":0},"output_tokens":196}.
func (c *Counter) imageCount(raw []byte) bool {
	u := ReadObject(llm.ImageGenerate, raw)
	shown := min(u.InputImageTokens, u.InputTokens)
	c.Found.Units[llm.DrawingTextInput], c.Found.Units[llm.DrawingImageInput], c.Found.Units[llm.DrawingOutput] = u.InputTokens-shown, shown, u.OutputTokens
	return u.InputTokens+u.OutputTokens > 0
}

// isReasoningAdditional reports whether reasoning tokens are counted in addition to output tokens.
// Perplexity does so for its research models, the only ones that report citation tokens. xAI and
// other hosts of its models do so too: there the total includes reasoning in addition.
// Source: https://docs.x.ai/docs/key-information/consumption-and-rate-limits,
// https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/grok/capabilities/reasoning,
// read 2026-11.
func (c *Counter) isReasoningAdditional() bool {
	u := &c.Found
	return u.ReasoningTokens > 0 && !c.outputExcludesReasoning && (u.CitationTokens > 0 || c.total && u.TotalTokens == u.InputTokens+u.OutputTokens+u.ReasoningTokens)
}

// isReasoningInTotalOnly reports whether only the total includes reasoning tokens. Google's
// OpenAI-compatible endpoint counts the reasoning of Gemini nowhere else. Other providers include
// other tokens in a total: Databricks includes tokens read from the cache.
// Source: https://ai.google.dev/gemini-api/docs/openai, and
// https://discuss.ai.google.dev/t/question-with-usage-in-openai-compatibility/98760, read 2026-11.
func (c *Counter) isReasoningInTotalOnly() bool {
	u := &c.Found
	return c.gemini && c.total && !c.outputExcludesReasoning && u.ReasoningTokens == 0 && u.InputTokens+u.OutputTokens > 0 && u.TotalTokens > u.InputTokens+u.OutputTokens
}

// named reads the raw name of the model, for facts that the provider does not report otherwise.
func (c *Counter) named(ep llm.Endpoint, model []byte) {
	c.gemini = c.gemini || bytes.Contains(model, []byte("gemini")) // "gemini-2.5-pro", "google/gemini-2.5-flash"
	if ep == llm.ChatComplete || c.PassedThrough {
		c.always = c.always || SearchesAlways(string(model))
	}
}

// searchers are parts of the names of OpenAI models that search the web once for each chat, which
// no usage object reports: "gpt-4o-search-preview", "gpt-5-search-api-2025-10-14".
// Source: https://developers.openai.com/api/docs/guides/tools-web-search, read 2026-11.
var searchers = [...]string{"-search-preview", "-search-api"}

// SearchesAlways reports whether a model searches the web once for each chat.
func SearchesAlways(model string) bool {
	return slices.ContainsFunc(searchers[:], func(keyword string) bool { return strings.Contains(model, keyword) })
}

// searchContext reads one of the values that set a price; it ignores all others.
func searchContext(raw []byte, to *string) bool {
	for _, keyword := range [...]string{"low", "medium", "high"} {
		if jsonedit.IsName(raw, keyword) {
			*to = keyword
			return true
		}
	}
	return false
}

// cost reads {"total_cost":0.005023}, in US dollars. It ignores costs in another currency.
func cost(raw []byte, toNano *int64) bool {
	if currency, ok := jsonedit.Find(raw, "currency"); ok && !jsonedit.IsName(currency, "USD") {
		return false
	}
	total, _ := jsonedit.Find(raw, "total_cost")
	dollars, ok := number(total)
	if !ok || dollars > maxCost {
		return false
	}
	*toNano = int64(math.Round(dollars * nano))
	return true
}

const (
	nano    = 1e9
	maxCost = 1e6 // dollars: more than any call costs
)
