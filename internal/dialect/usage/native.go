package usage

import (
	"bytes"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Responses that are passed through use their provider's format. In other calls its dialect reads them.

// nativeMember reads a member of a response. It returns the raw name of the model if the member has it.
// Source: https://ai.google.dev/api/generate-content#UsageMetadata,
// https://ai.google.dev/gemini-api/docs/interactions,
// https://docs.ollama.com/api/usage, https://docs.cohere.com/reference/chat, read 2026-11.
func (c *Counter) nativeMember(name, val []byte) (model []byte) {
	switch string(name) {
	case `"modelVersion"`:
		c.grounds.once = bytes.Contains(val, []byte("gemini-1")) || bytes.Contains(val, []byte("gemini-2"))
		return val
	case `"candidates"`:
		c.grounds.read(val)
	case `"type"`: // of a message of Claude's, or of the event that begins one
		c.apart = c.apart || jsonedit.IsName(val, "message") || jsonedit.IsName(val, "message_start")
	case `"interaction"`, `"chatResponse"`: // of the last event of a Gemini interaction; of Oracle's responses
		return c.wrapped(llm.Proxy, val)
	case `"usageMetadata"`, `"amazon-bedrock-invocationMetrics"`:
		c.Read(val)
	case `"prompt_eval_count"`, `"eval_count"`:
		c.Found.Reported = c.readNative(name, val) || c.Found.Reported
	}
	return nil
}

// readNative reads a member of a usage object and reports whether it is a metric that the gateway
// counts. Gemini counts reasoning separately from the output, and tool results separately from the
// prompt. Amazon's Converse counts cache reads and writes separately from the input. Amazon also
// sends the usage of any model after the last event of its stream. Oracle uses OpenAI's metrics in
// camel case.
// Source: contract/provider-transforms.md 1.3.
func (c *Counter) readNative(name, val []byte) bool {
	switch string(name) {
	case `"promptTokenCount"`, `"prompt_eval_count"`, `"inputTokenCount"`, `"total_input_tokens"`, `"promptTokens"`:
		return count(val, &c.Found.InputTokens)
	case `"inputTokens"`:
		c.apart = true
		return count(val, &c.Found.InputTokens)
	case `"candidatesTokenCount"`, `"outputTokens"`, `"eval_count"`, `"outputTokenCount"`, `"total_output_tokens"`, `"completionTokens"`:
		return count(val, &c.Found.OutputTokens)
	case `"toolUsePromptTokenCount"`, `"total_tool_use_tokens"`:
		return count(val, &c.tools)
	case `"thoughtsTokenCount"`, `"total_thought_tokens"`:
		c.outputExcludesReasoning = true
		return count(val, &c.Found.ReasoningTokens)
	case `"cachedContentTokenCount"`, `"cacheReadInputTokens"`, `"total_cached_tokens"`:
		return count(val, &c.Found.CachedTokens)
	case `"cacheWriteInputTokens"`:
		return count(val, &c.Found.CacheWriteTokens)
	case `"promptTokensDetails"`: // an object at Oracle, a list at Google
		cached, _ := jsonedit.Find(val, "cachedTokens")
		count(cached, &c.Found.CachedTokens)
		c.Found.InputAudioTokens, c.Found.InputImageTokens = Modality(val, "AUDIO"), Modality(val, "IMAGE")
	case `"completionTokensDetails"`: // of Oracle
		reasoning, _ := jsonedit.Find(val, "reasoningTokens")
		count(reasoning, &c.Found.ReasoningTokens)
	case `"candidatesTokensDetails"`:
		c.Found.OutputAudioTokens, c.Found.OutputImageTokens = Modality(val, "AUDIO"), Modality(val, "IMAGE")
	case `"cacheTokensDetails"`:
		c.Found.CachedAudioTokens, c.Found.CachedImageTokens = Modality(val, "AUDIO"), Modality(val, "IMAGE")
	case `"cacheDetails"`:
		c.Found.CacheHourTokens = CacheWrite1h(val)
	case `"totalTokenCount"`, `"totalTokens"`:
		c.total = count(val, &c.Found.TotalTokens) || c.total
		return c.total
	case `"billed_units"`: // of Cohere
		c.paid.Reported = units(val, &c.paid) || c.paid.Reported
		c.Found.SearchUnits = max(c.Found.SearchUnits, c.paid.SearchUnits)
		return c.paid.Reported
	case `"tokens"`:
		return units(val, &c.Found)
	}
	return false
}

// units reads {"input_tokens":12,"output_tokens":3}, and the other units that Cohere bills.
func units(raw []byte, to *llm.Usage) (found bool) {
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"input_tokens"`:
			found = count(val, &to.InputTokens) || found
		case `"output_tokens"`:
			found = count(val, &to.OutputTokens) || found
		case `"search_units"`:
			found = count(val, &to.SearchUnits) || found
		}
	}
	return found
}

// Modality adds up the tokens of one modality in a Gemini list:
// [{"modality":"AUDIO","tokenCount":9}].
// Source: https://ai.google.dev/api/generate-content#ModalityTokenCount, read 2026-11.
func Modality(list []byte, modality string) (total int64) {
	for e := range jsonedit.Elements(list) {
		if kind, _ := jsonedit.Find(e, "modality"); jsonedit.IsName(kind, modality) {
			tokens, _ := jsonedit.Find(e, "tokenCount")
			total = plus(total, tokens)
		}
	}
	return total
}

// CacheWrite1h adds up the tokens that Amazon reports as cached for an hour:
// [{"ttl":"1h","inputTokens":1200},{"ttl":"5m","inputTokens":80}].
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html,
// read 2026-11.
func CacheWrite1h(list []byte) (total int64) {
	for e := range jsonedit.Elements(list) {
		if jsonedit.Text(e, "ttl") == "1h" {
			tokens, _ := jsonedit.Find(e, "inputTokens")
			total = plus(total, tokens)
		}
	}
	return total
}

// plus adds a number of tokens to a total, up to the maximum that a call can use. An invalid number
// adds nothing.
func plus(total int64, raw []byte) int64 {
	var n int64
	count(raw, &n)
	return min(total+n, llm.MaxCount)
}
