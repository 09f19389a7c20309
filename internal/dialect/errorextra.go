package dialect

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// maxErrorExtraBytes bounds, in bytes, what else of a provider's error travels along.
const maxErrorExtraBytes = 8 << 10

// errorExtra are the members of a provider's error object that the common shape has no field
// for, in its order: {"n_prompt_tokens":5012,"n_ctx":4096}. What does not fit into
// maxErrorExtraBytes is left out. The values are slices of the body.
func errorExtra(body []byte) []llm.Param {
	if !splice.Valid(body) || !utf8.Valid(body) {
		return nil
	}
	object, known := errorObject(body)
	var list []llm.Param
	left := maxErrorExtraBytes
	for raw, value := range splice.Members(object) {
		name, _ := splice.Unquote(raw)
		if slices.Contains(known, name) || isEmptyDelta(value) || len(name)+len(value) > left || hasParam(list, name) {
			continue
		}
		left -= len(name) + len(value)
		list = append(list, llm.Param{Name: name, Raw: value})
	}
	return list
}

// errorFields are the fields of the common shape, and of the objects around it.
var errorFields = []string{"message", "type", "param", "code"}

// errorObject is the object that describes the error, and which of its members are known: the
// one below error or detail, or the body itself where its message says that it is one.
func errorObject(body []byte) (object []byte, known []string) {
	for _, name := range [...]string{"error", "detail"} {
		if raw, ok := splice.Find(body, name); ok {
			if isObject(raw) {
				return raw, errorFields
			}
			return nil, nil
		}
	}
	if splice.Text(body, "message") == "" {
		return nil, nil
	}
	return body, append([]string{"object", "provider", "request_id", "Message", "statusCode", "sequence_number"}, errorFields...)
}

func hasParam(list []llm.Param, name string) bool {
	return slices.ContainsFunc(list, func(p llm.Param) bool { return p.Name == name })
}

// unwrapped is an error without the list of one in which Google's hosts put it.
func unwrapped(body []byte) []byte {
	if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '[' {
		for item := range splice.Elements(text) {
			return item
		}
	}
	return body
}

// ContextCode is the error code of a conversation that is too long for the model, whatever its
// provider calls it. Source: https://platform.openai.com/docs/guides/error-codes, read 2026-11.
const ContextCode = "context_length_exceeded"

// tooLongPrompt is how Anthropic says it; coding agents look for the words, and shorten the
// conversation. Source: https://docs.anthropic.com/en/api/errors, read 2026-11.
const tooLongPrompt = "prompt is too long"

// contextKeywords are types and codes of such errors, and contextTexts pieces of their messages, in
// lower case: of OpenAI and those who copy it, Anthropic, Amazon Bedrock, Gemini, Mistral, xAI,
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

// conversing are the endpoints whose models have a context window; a prompt for a picture that is
// too long is something else. The empty one stands for any.
var conversing = map[llm.Endpoint]bool{
	"": true, llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.MessagesCountTokens: true,
	llm.CreateModelResponse: true, llm.CountResponseInputTokens: true, llm.Embed: true, llm.Rerank: true,
}

// aboutContext reports whether an error of a status says that the conversation is too long. A
// rate of tokens is something else.
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

// tooLong is the message of such an error in Anthropic's words, with the numbers where the
// provider gives them: "prompt is too long: 5012 tokens > 4096 maximum".
func (d *details) tooLong(provider string) string {
	rest := strings.TrimPrefix(d.message, provider+" error: ")
	return provider + " error: " + inTooLongWords(rest, d.extra)
}

// inTooLongWords is a message with the words "prompt is too long" before it, and the numbers where
// extra has them. It is the message itself where they are in it.
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
