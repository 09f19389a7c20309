package gemini

import "strings"

// family is what the name of a model tells about its abilities. Where a name says
// nothing, as that of a tuned model does, it counts as one of the newest.
type family struct {
	name  string // without publisher: "gemini-2.5-flash"
	major int
	minor int
	known bool // the name tells the version
}

// familyOf reads a name such as "gemini-2.5-pro", "google/gemini-3-pro-preview" or
// "gemini-flash-latest".
func familyOf(model string) family {
	f := family{name: model[strings.LastIndexByte(model, '/')+1:]}
	rest, ok := strings.CutPrefix(f.name, "gemini-")
	if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
		f.major, f.known = 3, ok && strings.HasSuffix(rest, "-latest")
		if rest == "pro" || rest == "pro-vision" { // the first two had no number
			f.major, f.known = 1, true
		}
		return f
	}
	f.known, f.major = true, int(rest[0]-'0')
	if len(rest) > 2 && rest[1] == '.' && rest[2] >= '0' && rest[2] <= '9' {
		f.minor = int(rest[2] - '0')
	}
	return f
}

// jsonSchema reports whether the model takes JSON schemas as they are; older ones know
// a part of OpenAPI's.
// Source: https://ai.google.dev/gemini-api/docs/structured-output, read 2026-11.
func (f family) jsonSchema() bool { return f.major > 2 || f.major == 2 && f.minor >= 5 }

// levels reports whether thinking is asked for in words, and not in tokens; these
// models want their signatures back, and take pictures in the results of tools.
// Source: https://ai.google.dev/gemini-api/docs/gemini-3, read 2026-11.
func (f family) levels() bool { return f.major >= 3 }

// supportsThinking reports whether the model takes a word about thinking at all.
// Source: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11.
func (f family) supportsThinking() bool {
	return !f.known || f.jsonSchema() || strings.Contains(f.name, "thinking")
}

// minThinking is how little the model can be told to think: not at all, by a budget of nothing, or
// by the word "minimal"; empty when it cannot be told to think less than it does, as those that
// only work in thinking mode.
// Source: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11.
func (f family) minThinking() (key, value string) {
	flash := strings.Contains(f.name, "flash")
	switch {
	case !f.known, f.major == 2 && flash:
		return "thinkingBudget", "0"
	case f.levels() && flash:
		return "thinkingLevel", `"minimal"`
	}
	return "", ""
}

// maxThinking is the largest budget of thoughts that the model takes, in tokens; 0 when that is not
// known. Claude's callers may have larger ones.
// Source: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11.
func (f family) maxThinking() int64 {
	switch {
	case !f.known || f.major != 2:
		return 0
	case strings.Contains(f.name, "flash"):
		return 24576
	}
	return 32768
}

// requiresSignatures reports whether a conversation without the signatures of its calls is refused.
// Models of an unknown name are not given the word that stands for a missing one.
func (f family) requiresSignatures() bool { return f.known && f.major >= 3 }

// supportsSystemInstruction reports whether the model knows systemInstruction.
// Source: contract/provider-transforms.md 4.1.
func (f family) supportsSystemInstruction() bool {
	return f.name != "gemini-pro" && f.name != "gemini-pro-vision" && !strings.HasPrefix(f.name, "gemini-1.0-pro")
}

// mergesSameRole reports whether neighbouring contents of one role become one.
func (f family) mergesSameRole() bool { return !strings.Contains(f.name, "vision") }
