package tokens

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// CountMax is the maximum size in bytes of a body that CountRequest counts. Counting one of
// that size takes 3 ms for usual text and 8 ms at worst, measured on one core of a server
// (BenchmarkCountRequest, 2026-11). Larger bodies are limited by their bytes.
const CountMax = 16 << 10

// CountRequest returns the maximum input that OpenAI bills for a request body of chatComplete,
// createModelResponse, complete or embed: its text by the vocabulary of the model, and what
// the API adds to each message. It is exact where MaxRequestTokens has a token for each byte.
// known is false, and the caller uses MaxRequestTokens, if the count is not certain: models
// with an unknown vocabulary, bodies above CountMax, media, tools, schemas, and unknown
// members.
// Source: OpenAI cookbook, "How to count tokens with tiktoken", read 2026-11.
func (c *Counter) CountRequest(ep llm.Endpoint, body []byte, model string) (n int64, known bool) {
	f := familyOf(model)
	if len(body) > CountMax || f.function == nil || !countable(model) {
		return 0, false
	}
	read := countedBodies[ep]
	if read == nil {
		return 0, false
	}
	k := &exact{load: c.o200k, turnCost: f.turn, nameCost: f.name}
	if f.vocabulary == cl100k {
		k.load = c.cl100k
	}
	for name, raw := range jsonedit.Members(body) {
		key, _ := jsonedit.Unquote(name)
		switch {
		case read[key] != nil:
			read[key](k, raw)
		case !silentMembers[key]:
			return 0, false
		}
	}
	if k.failed || k.turns == 0 && k.texts == 0 {
		return 0, false
	}
	if k.turns > 0 {
		k.total += f.responseTokens + k.extra(model)
	}
	return k.total, true
}

// countable reports whether an OpenAI model reads only what the request contains. The open
// models have a preamble that servers add, and search models read what they find. Models with
// audio or image input count by other rules.
func countable(model string) bool {
	for _, part := range [...]string{"gpt-oss", "search", "audio", "realtime", "image", "computer-use", "deep-research", "transcribe", "tts", "codex"} {
		if strings.Contains(model, part) {
			return false
		}
	}
	return true
}

// reasoningExtra is what reasoning models may read in addition to the conversation:
// instructions.
const reasoningExtra = 16

// extra returns what the model may read once in addition to the messages.
func (k *exact) extra(model string) int64 {
	for _, reasons := range [...]string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, reasons) {
			return reasoningExtra
		}
	}
	return 0
}

// exact counts a body. failed is set if the body contains something whose count is not
// certain.
type exact struct {
	load               func() *vocabulary
	turnCost, nameCost int64
	total              int64
	turns, texts       int
	failed             bool
}

// countedBodies are the members that are read, by endpoint.
var countedBodies = map[llm.Endpoint]map[string]func(k *exact, raw []byte){
	llm.ChatComplete:        {"messages": (*exact).messages},
	llm.CreateModelResponse: {"instructions": (*exact).instructions, "input": (*exact).input},
	llm.Complete:            {"prompt": (*exact).prompts},
	llm.Embed:               {"input": (*exact).prompts},
}

// silentMembers are members of bodies that the model does not read. Duplicate members are both
// counted if they are read.
var silentMembers = names("model max_tokens max_completion_tokens max_output_tokens temperature top_p n best_of stop stream stream_options presence_penalty " +
	"frequency_penalty seed user logprobs top_logprobs store metadata service_tier safety_identifier prompt_cache_key prompt_cache_retention " +
	"reasoning_effort logit_bias encoding_format dimensions background provider")

// text counts a JSON string.
func (k *exact) text(raw []byte) {
	s, ok := jsonedit.Unquote(raw)
	if !ok {
		k.failed = true
		return
	}
	k.texts++
	k.total += min(k.load().tokens(s)+seams(s), int64(len(s)))
}

// seams returns how many tokens the cuts between the chunks of a text may have hidden.
func seams(s string) int64 { return int64(len(s) / (chunkBytes / 2)) }

func (k *exact) messages(raw []byte) {
	for m := range jsonedit.Elements(raw) {
		k.message(m)
	}
}

// message counts a text message: {"role":"user","content":"…"}, or one with text parts.
func (k *exact) message(raw []byte) {
	if len(raw) == 0 || raw[0] != '{' {
		k.failed = true
		return
	}
	k.turns++
	k.total += k.turnCost
	for name, val := range jsonedit.Members(raw) {
		switch key, _ := jsonedit.Unquote(name); key {
		case "role":
			role, _ := jsonedit.Unquote(val)
			k.failed = k.failed || !plainRoles[role]
		case "name":
			k.text(val)
			k.total += k.nameCost
		case "content":
			k.content(val)
		case "type":
			k.failed = k.failed || string(val) != `"message"`
		default:
			k.failed = true
		}
	}
}

// plainRoles are one token each.
var plainRoles = names("system developer user assistant")

func (k *exact) content(raw []byte) {
	if len(raw) > 0 && raw[0] == '"' {
		k.text(raw)
		return
	}
	if !gjson.ParseBytes(raw).IsArray() {
		k.failed = true
		return
	}
	for part := range jsonedit.Elements(raw) {
		if bytes.IndexByte(part, '{') != 0 {
			k.failed = true
			return
		}
		for name, val := range jsonedit.Members(part) {
			switch key, _ := jsonedit.Unquote(name); key {
			case "type":
				kind, _ := jsonedit.Unquote(val)
				k.failed = k.failed || !textParts[kind]
			case "text":
				k.text(val)
				k.total++ // the separator of parts
			default:
				k.failed = true
			}
		}
	}
}

// textParts are the types of parts that are text.
var textParts = names("text input_text output_text")

func (k *exact) instructions(raw []byte) {
	if jsonedit.IsNull(raw) {
		return
	}
	k.turns++
	k.total += k.turnCost
	k.text(raw)
}

func (k *exact) input(raw []byte) {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		k.turns++
		k.total += k.turnCost
		k.text(raw)
	case len(raw) > 0 && raw[0] == '[':
		k.messages(raw)
	default:
		k.failed = true
	}
}

// prompts counts a string or a list of strings. Lists of tokens are left to MaxRequestTokens.
func (k *exact) prompts(raw []byte) {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		k.text(raw)
	case len(raw) > 0 && raw[0] == '[':
		for el := range jsonedit.Elements(raw) {
			k.text(el)
		}
	default:
		k.failed = true
	}
}
