package dialect

import (
	"encoding/json"
	"strings"

	"sluice/internal/llm"
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
	start := strings.LastIndex(name, "claude")
	if start < 0 {
		return ClaudeModel{}
	}
	const mayBegin = 1 // index of the last word that may be the version
	var m ClaudeModel
	i, major := -1, -1 // index of the word, and of that which is the version
	for segment := range strings.FieldsFuncSeq(name[start+len("claude"):], func(r rune) bool { return strings.ContainsRune("-._@:/", r) }) {
		i++
		digits := segment
		if i <= mayBegin { // claude-v2:1, claude-instant-v1
			digits = strings.TrimPrefix(segment, "v")
		}
		n, small := smallNumber(digits)
		switch {
		case !small:
			if m.Family == "" && len(segment) > 3 && strings.Trim(digits, "0123456789") != "" {
				m.Family = segment
			}
		case major < 0 && i <= mayBegin:
			m.Major, major = n, i
		case major >= 0 && major == i-1:
			m.Minor = n
		}
	}
	return m
}

// smallNumber reads a number of one or two digits.
func smallNumber(s string) (n int, ok bool) {
	if len(s) == 0 || len(s) > 2 {
		return 0, false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
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

// SupportsThinking reports whether the model can be told to think; of one that is not known the
// provider will say.
func (m ClaudeModel) SupportsThinking() bool { return m.Major == 0 || m.Since(3, 7) }

// SupportsAdaptiveThinking reports whether the model decides by itself how much to think. Budgets are
// refused by the newest.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read 2026-11.
func (m ClaudeModel) SupportsAdaptiveThinking() bool { return m.Since(4, 6) }

// SupportsEffort reports whether the model knows output_config.effort.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m ClaudeModel) SupportsEffort() bool {
	return m.SupportsAdaptiveThinking() || m.Family == "opus" && m.Since(4, 5)
}

// SupportsEffortLevel reports whether a word of effort is one of the model's: max came with 4.6 and xhigh with
// 4.7, and those before refuse them.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m ClaudeModel) SupportsEffortLevel(effort string) bool {
	switch effort {
	case "max":
		return m.Since(4, 6)
	case "xhigh":
		return m.Since(4, 7)
	}
	return true
}

// SupportsSampling reports whether the model can be told its temperature, top_p and top_k: from 4.7 on
// it refuses a call with any but its own.
// Source: https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7,
// https://openrouter.ai/docs/guides/evaluate-and-optimize/model-migrations/claude-4-7, read 2026-11.
func (m ClaudeModel) SupportsSampling() bool { return !m.Since(4, 7) }

// Continues reports whether the model goes on with what the assistant said last: from 4.6 on it
// wants the user to speak last.
// Source: https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6,
// https://github.com/langchain-ai/deepagents/issues/1585, read 2026-11.
func (m ClaudeModel) Continues() bool { return !m.Since(4, 6) }

// SupportsForcedTools reports whether the model can be told that it must call a tool: those that always think
// refuse it.
// Source: https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5 and
// https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5, read 2026-11.
func (m ClaudeModel) SupportsForcedTools() bool {
	switch m.Family {
	case "opus", "sonnet":
		return !m.Since(5, 5)
	case "fable", "mythos":
		return !m.Since(5, 1)
	}
	return true
}

// DisabledThinkingType is the type of thinking that keeps the model from it as far as it goes: "disabled",
// or "between_tools" of those that always note something there; "" for those that cannot be kept
// from it. Models before 5 think when they are told to.
// Source: as that of Obeys.
func (m ClaudeModel) DisabledThinkingType() string {
	switch {
	case m.Family == "fable", m.Family == "mythos", m.Family == "opus" && m.Since(5, 5):
		return ""
	case m.Family == "sonnet" && m.Since(5, 5):
		return "between_tools"
	}
	return "disabled"
}

// Sampled takes the temperature or top_p that the caller wants of the model, or top_k. What the
// model would refuse is not taken, so that it is named as lost, unless it is the model's own.
func (m ClaudeModel) Sampled(t *llm.FieldTracker, name string) (json.RawMessage, bool) {
	switch {
	case m.SupportsSampling():
		return t.Consume(name)
	case name != "top_k" && between(t, name, 1, 1):
		t.Consume(name)
	}
	return nil, false
}
