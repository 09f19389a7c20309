package dialect

import (
	"strconv"
	"strings"
)

// ClaudeModel is what the name of a model tells, wherever Claude runs: {"sonnet", 4, 5} of
//
//	claude-sonnet-4-5, claude-sonnet-4-5-20250929, claude-sonnet-4-5@20250929
//	us.anthropic.claude-sonnet-4-5-20250929-v1:0
//	arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0
//	projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5
//
// and {"sonnet", 3, 5} of claude-3-5-sonnet-v2@20241022. Of a name that is none of Claude's, for
// example of a deployment or of a profile, Major is 0.
type ClaudeModel struct {
	Family       string // "opus"; empty for the first models
	Major, Minor int
}

// ClaudeOf reads the name of a model. The version is the first number of at most two digits
// behind "claude", or behind the family that follows it; what comes directly after is the minor
// one, and eight digits are a date.
func ClaudeOf(name string) ClaudeModel {
	name = strings.ToLower(name)
	at := strings.LastIndex(name, "claude")
	if at < 0 {
		return ClaudeModel{}
	}
	const mayBegin = 1 // index of the last word that may be the version
	var m ClaudeModel
	major := -1 // index of the word that is
	for i, word := range strings.FieldsFunc(name[at+len("claude"):], func(r rune) bool { return strings.ContainsRune("-._@:/", r) }) {
		n, err := strconv.Atoi(word)
		if err != nil && i <= mayBegin { // claude-v2:1, claude-instant-v1
			n, err = strconv.Atoi(strings.TrimPrefix(word, "v"))
		}
		switch {
		case err != nil:
			if m.Family == "" && len(word) > 3 {
				m.Family = word
			}
		case n < 0 || n > 99:
		case major < 0 && i <= mayBegin:
			m.Major, major = n, i
		case major >= 0 && major == i-1:
			m.Minor = n
		}
	}
	return m
}

// Since reports whether the model is of that version or newer.
func (m ClaudeModel) Since(major, minor int) bool {
	return m.Major > major || m.Major == major && m.Minor >= minor
}

// The largest answers, in tokens, of generations of models.
// Source: https://platform.claude.com/docs/en/about-claude/models/overview, read 2026-11.
const (
	outputOldest = 4096
	output35     = 8192
	outputOpus4  = 32000
	output37     = 64000
	output46     = 128000
)

// MaxOutput is how long an answer may become when the caller does not say:
// Anthropic wants to be told. Models that are not known get 4096.
// Source: contract/provider-transforms.md 2.1.
func (m ClaudeModel) MaxOutput() int64 {
	switch {
	case m.Since(4, 6):
		return output46
	case m.Since(4, 5):
		return output37
	case m.Since(4, 0) && m.Family == "opus":
		return outputOpus4
	case m.Since(3, 7):
		return output37
	case m.Since(3, 5):
		return output35
	}
	return outputOldest
}

// Thinks reports whether the model can be told to think; of one that is not known the
// provider will say.
func (m ClaudeModel) Thinks() bool { return m.Major == 0 || m.Since(3, 7) }

// Adapts reports whether the model decides by itself how much to think. Budgets are
// refused by the newest.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read 2026-11.
func (m ClaudeModel) Adapts() bool { return m.Since(4, 6) }

// Weighs reports whether the model knows output_config.effort.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m ClaudeModel) Weighs() bool { return m.Adapts() || m.Family == "opus" && m.Since(4, 5) }

// Knows reports whether a word of effort is one of the model's: max came with 4.6 and xhigh with
// 4.7, and those before refuse them.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m ClaudeModel) Knows(effort string) bool {
	switch effort {
	case "max":
		return m.Since(4, 6)
	case "xhigh":
		return m.Since(4, 7)
	}
	return true
}
