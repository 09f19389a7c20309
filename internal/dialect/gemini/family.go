package gemini

import "strings"

// family describes the abilities of a model, parsed from its name. A model without a version in its
// name, such as a tuned model, counts as one of the newest.
type family struct {
	name  string // without publisher: "gemini-2.5-flash"
	major int
	minor int
	known bool // the name contains the version
}

// familyOf reads a name such as "gemini-2.5-pro", "google/gemini-3-pro-preview" or
// "gemini-flash-latest".
func familyOf(model string) family {
	f := family{name: model[strings.LastIndexByte(model, '/')+1:]}
	rest, ok := strings.CutPrefix(f.name, "gemini-")
	if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
		f.major, f.known = 3, ok && strings.HasSuffix(rest, "-latest")
		if rest == "pro" || rest == "pro-vision" { // the first two had no version number
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

// jsonSchema reports whether the model supports JSON schemas unchanged. Older models support a subset
// of OpenAPI's schemas.
// Source: https://ai.google.dev/gemini-api/docs/structured-output, read 2026-11.
func (f family) jsonSchema() bool { return f.major > 2 || f.major == 2 && f.minor >= 5 }

// levels reports whether thinking is set by level instead of tokens. These models also require their
// signatures in later requests, and accept images in tool results.
// Source: https://ai.google.dev/gemini-api/docs/gemini-3, read 2026-11.
func (f family) levels() bool { return f.major >= 3 }

// supportsThinking reports whether the model accepts any thinking setting.
// Source: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11.
func (f family) supportsThinking() bool {
	return !f.known || f.jsonSchema() || strings.Contains(f.name, "thinking")
}

// minThinking returns the setting for the least thinking of the model: a budget of 0 or the level
// "minimal". Both are "" when the model does not support less, like models that always think.
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

// maxThinking returns the largest thinking budget that the model accepts, in tokens; 0 when it is
// unknown. Callers who write for Claude may request more.
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

// requiresSignatures reports whether the model rejects a conversation whose calls have no signatures.
// It is false for models with an unknown name, which get no substitute signature.
func (f family) requiresSignatures() bool { return f.known && f.major >= 3 }

// supportsSystemInstruction reports whether the model supports systemInstruction.
// Source: contract/provider-transforms.md 4.1.
func (f family) supportsSystemInstruction() bool {
	return f.name != "gemini-pro" && f.name != "gemini-pro-vision" && !strings.HasPrefix(f.name, "gemini-1.0-pro")
}

// mergesSameRole reports whether consecutive contents of one role become one.
func (f family) mergesSameRole() bool { return !strings.Contains(f.name, "vision") }
