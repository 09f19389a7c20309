package upstreamerror

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// maxErrorExtraBytes is the maximum size of the additional error members that are relayed.
const maxErrorExtraBytes = 8 << 10

// Extra returns the members of a provider's error object that the common shape does not
// have, in their order: {"n_prompt_tokens":5012,"n_ctx":4096}. Members beyond
// maxErrorExtraBytes are omitted. The values are slices of the body.
func Extra(body []byte) []llm.Param {
	if !jsonedit.Valid(body) || !utf8.Valid(body) {
		return nil
	}
	object, known := errorObject(body)
	var list []llm.Param
	left := maxErrorExtraBytes
	for raw, value := range jsonedit.Members(object) {
		name, _ := jsonedit.Unquote(raw)
		if slices.Contains(known, name) || jsonscan.IsEmpty(value) || len(name)+len(value) > left || hasParam(list, name) {
			continue
		}
		left -= len(name) + len(value)
		list = append(list, llm.Param{Name: name, Raw: value})
	}
	return list
}

// errorFields are the fields of the common shape and of the objects around it.
var errorFields = []string{"message", "type", "param", "code"}

// errorObject returns the object that describes the error, and which of its members are known.
// It is the object below error or detail, or the body itself if it has a message.
func errorObject(body []byte) (object []byte, known []string) {
	for _, name := range [...]string{"error", "detail"} {
		if raw, ok := jsonedit.Find(body, name); ok {
			if jsonscan.IsObject(raw) {
				return raw, errorFields
			}
			return nil, nil
		}
	}
	if jsonedit.Text(body, "message") == "" {
		return nil, nil
	}
	return body, append([]string{"object", "provider", "request_id", "Message", "statusCode", "sequence_number"}, errorFields...)
}

func hasParam(list []llm.Param, name string) bool {
	return slices.ContainsFunc(list, func(p llm.Param) bool { return p.Name == name })
}

// unwrapped removes the one-element list in which Google's hosts wrap an error.
func unwrapped(body []byte) []byte {
	if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '[' {
		for item := range jsonedit.Elements(text) {
			return item
		}
	}
	return body
}

// ContextCode is the error code for a conversation that exceeds the model's context window. It
// replaces the provider's code. Source: https://platform.openai.com/docs/guides/error-codes, read 2026-11.
const ContextCode = "context_length_exceeded"

// tooLongPrompt is Anthropic's phrase for that error. Coding agents search for it and then
// shorten the conversation. Source: https://docs.anthropic.com/en/api/errors, read 2026-11.
const tooLongPrompt = "prompt is too long"

// contextKeywords are types and codes of such errors. contextTexts are parts of their messages in
// lower case: of OpenAI and compatible servers, Anthropic, Amazon Bedrock, Gemini, Mistral, xAI,
// Groq, Kimi, MiniMax, llama.cpp, vLLM, SGLang, TGI, LM Studio, Ollama, GitHub Models, DashScope and Zhipu.
// Source: the providers' documentation and the source of the servers, read 2026-11.
var (
	contextKeywords = [...]string{"context_length", "context_window", "exceed_context_size", "tokens_limit_reached"}
	contextTexts    = [...]string{
		tooLongPrompt, "exceed context limit", "maximum context length", "context length exceeded", "context window",
		"context size", "model's context length", "than the context length", "with context length of", "input is too long", "input length and `max_tokens` exceed",
		"exceeds the maximum number of tokens allowed", "maximum prompt length", "exceeded model token limit", "maximum model length",
		"reduce the length of the messages", "prompt too long", "input length exceeds", "range of input length should be", "prompt exceeds max length", "too many tokens", "longer than the maximum",
	}
)

// conversing are the endpoints whose models have a context window. An image prompt that is too
// long is a different error. The empty endpoint matches any endpoint.
var conversing = map[llm.Endpoint]bool{
	"": true, llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.MessagesCountTokens: true,
	llm.CreateModelResponse: true, llm.CountResponseInputTokens: true, llm.Embed: true, llm.Rerank: true,
}

// aboutContext reports whether an error with that status means that the conversation is too long.
// A token rate limit is a different error.
func (d *details) aboutContext(status int) bool {
	switch status {
	case 400, 413, 422, 500:
	default:
		return false
	}
	for _, w := range contextKeywords {
		if strings.Contains(d.typ, w) || strings.Contains(d.code, w) {
			return true
		}
	}
	text := strings.ToLower(d.message)
	if strings.Contains(text, "tokens per minute") || strings.Contains(text, "rate limit") {
		return false
	}
	for _, phrase := range contextTexts {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	// TGI: "`inputs` tokens + `max_new_tokens` must be <= 4096"; "`inputs` must have less than 1024 tokens"
	return strings.Contains(text, "`inputs`") && (strings.Contains(text, "must be <=") || strings.Contains(text, "must have less than"))
}

// tooLong is the message of such an error in Anthropic's wording, with the numbers if the
// provider reports them: "prompt is too long: 5012 tokens > 4096 maximum".
func (d *details) tooLong(provider string) string {
	rest := strings.TrimPrefix(d.message, provider+" error: ")
	return provider + " error: " + inTooLongWords(rest, d.extra)
}

// inTooLongWords prefixes a message with "prompt is too long", and with the numbers if extra
// contains them. It returns the message unchanged if it contains that phrase.
func inTooLongWords(message string, extra []llm.Param) string {
	if strings.Contains(strings.ToLower(message), tooLongPrompt) {
		return message
	}
	var used, limit string
	for _, p := range extra {
		switch p.Name {
		case "n_prompt_tokens":
			used = string(p.Raw)
		case "n_ctx":
			limit = string(p.Raw)
		}
	}
	if used != "" && limit != "" {
		message = used + " tokens > " + limit + " maximum: " + message
	}
	return tooLongPrompt + ": " + message
}
