package tokens

import "strings"

// family is how the models of one maker count. All numbers are tokens.
type family struct {
	names          []string // prefixes of model names, below any path: "gpt-4o" matches "openai/gpt-4o-mini"
	vocabulary     vocabularyName
	percent        int64 // percentage of the vocabulary's count
	turn           int64 // cost of a message in addition to its text, including its role
	name           int64 // cost of a speaker's name in addition to its text
	responseTokens int64 // that begin the response
	toolset        int64 // cost of having tools in addition to their text, once
	function       *functions
	vision         vision
	page           int64 // maximum cost of a page of a document
	audio          int64 // cost of a second of audio
}

// families are searched from the top; the first match applies.
//
// The numbers for OpenAI's chats are those with which its cookbook matches the API exactly
// ("How to count tokens with tiktoken", read 2026-11): 3 for a message and 1 for its role, 1
// for a name, 3 before the response; tools as in functions.
//
// For the others, the vocabularies and the numbers for messages and tools were fitted by
// ai-tokenizer 1.0.6 (MIT, github.com/coder/ai-tokenizer, read 2026-11) to API responses. It
// reports 97 % and more of the true count for Gemini, Grok 3 and DeepSeek, 94 % for Mistral
// and Qwen, about 90 % for Nova, Llama and Kimi. Claude's vocabulary is not included here. The
// one published for Claude 2, with that project's factor of 1.1, gives 1.10 to 1.17 times
// cl100k_base for English and JSON, 1.25 for German, 1.34 for Go and Russian, 0.92 for Chinese
// (measured 2026-11); 1.2 is used. Models from Opus 4.7 on read the same text as up to 1.35
// times as many tokens (release notes, 2026-04). For a model of no known family the estimate
// is rather too high.
var families = []family{
	openAI(o200k, functions4o, patched(1.62, 1536), "gpt-4.1-mini", "gpt-5-mini", "gpt-5.1-codex-mini", "gpt-5-codex-mini"),
	openAI(o200k, functions4o, patched(2.46, 1536), "gpt-4.1-nano", "gpt-5-nano"),
	openAI(o200k, functions4o, patched(1.72, 1536), "o4-mini"),
	openAI(o200k, functions4o, tiled(2833, 5667), "gpt-4o-mini"),
	openAI(o200k, functions4o, tiled(75, 150), "o1", "o3", "o4"),
	openAI(o200k, functions4o, tiled(65, 129), "computer-use", "gpt-image"),
	openAI(o200k, functions4o, tiled(70, 140), "gpt-5", "gpt-6"),
	openAI(o200k, functions4o, tiled(85, 170), "gpt-4o", "gpt-4.1", "gpt-4.5", "chatgpt", "gpt-oss", "gpt-realtime", "gpt-audio", "codex"),
	openAI(cl100k, functions4, tiled(85, 170), "gpt-4", "gpt-3.5", "gpt-35", "text-embedding", "davinci-002", "babbage-002"),

	claude(140, sized(2576, 4784), "claude-opus-4-7", "claude-opus-4.7", "claude-opus-4-8", "claude-opus-4.8", "claude-opus-5", "claude-sonnet-5", "claude-haiku-5", "claude-fable", "claude-mythos"),
	claude(120, sized(1568, 1600), "claude"),

	{names: []string{"gemini-1", "gemini-2"}, vocabulary: o200k, percent: 108, vision: squares(768, 258, 4128, 4*258), page: 258, audio: 32},
	{names: []string{"gemini"}, vocabulary: o200k, percent: 108, vision: flat(280, 1120, 2240), page: 1120, audio: 32},
	other(o200k, 3+1, 6, 240, "grok"),
	other(o200k, 1+1, 4, 142, "deepseek"),
	other(o200k, 3+1, 6, 48, "kimi", "moonshot"),
	qwen(other(cl100k, 4+1, 7, 142, "qwen", "qwq", "qvq")),
	other(cl100k, 3+1, 9, 128, "glm"),
	other(cl100k, 1+1, 2, 60, "mistral", "mixtral", "ministral", "codestral", "devstral", "magistral", "pixtral", "voxtral", "open-mistral", "open-mixtral"),
	other(cl100k, 4+1, 14, 193, "llama", "meta-llama"),
	other(cl100k, 2+1, 0, 394, "nova", "titan"),
}

// stranger is the family of models of no known family.
var stranger = other(cl100k, 4+1, 8, 346)

func openAI(v vocabularyName, f *functions, visionRule vision, names ...string) family {
	return family{names: names, vocabulary: v, percent: 100, turn: 3 + 1, name: 1, responseTokens: 3, function: f, vision: visionRule, page: visionRule.maxTokens + 1000, audio: 10}
}

// claude uses the number for tools that Anthropic gives for its Claude 4 models with a choice
// of auto or none, and for a page the maximum text that it gives plus the page image.
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview and
// /build-with-claude/pdf-support, read 2026-11.
func claude(percent int64, visionRule vision, names ...string) family {
	return family{names: names, vocabulary: cl100k, percent: percent, turn: 2 + 1, responseTokens: 6, toolset: 346, vision: visionRule, page: 3000 + visionRule.maxTokens, audio: 32}
}

func other(v vocabularyName, turn, responseTokens, toolset int64, names ...string) family {
	return family{names: names, vocabulary: v, percent: 100, turn: turn, responseTokens: responseTokens, toolset: toolset, vision: squares(560, 1601, 6404, 6404), page: 6404, audio: 32}
}

func qwen(f family) family {
	f.vision = squares(28, 1, 16384, 1369)
	return f
}

// familyOf finds the family of a model by the last path segment of its name and by its
// dot-separated parts: "us.anthropic.claude-opus-4-1-v1:0", "models/gemini-2.5-pro",
// "accounts/fireworks/models/llama-v3p1-8b-instruct", "ft:gpt-4o:acme::1".
func familyOf(model string) *family {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimPrefix(name, "ft:")
	for start := 0; start >= 0; start = next(name, start) {
		for i := range families {
			if families[i].begins(name[start:]) {
				return &families[i]
			}
		}
	}
	return &stranger
}

// next returns where the part after the next dot begins, -1 if there is none.
func next(name string, start int) int {
	i := strings.IndexByte(name[start:], '.')
	if i < 0 {
		return -1
	}
	return start + i + 1
}

func (f *family) begins(name string) bool {
	for _, n := range f.names {
		if strings.HasPrefix(name, n) {
			return true
		}
	}
	return false
}
