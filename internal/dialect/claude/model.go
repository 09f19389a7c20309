package claude

import (
	"encoding/json"
	"strings"

	"sluice/internal/kernel/llm"
)

// Model is what a model name reveals about a Claude model on any host: {"sonnet", 4, 5} for
//
//	claude-sonnet-4-5, claude-sonnet-4-5-20250929, claude-sonnet-4-5@20250929
//	us.anthropic.claude-sonnet-4-5-20250929-v1:0
//	arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0
//	projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5
//
// and {"sonnet", 3, 5} for claude-3-5-sonnet-v2@20241022. Major is 0 if the name does not identify
// a Claude model, for example the name of a deployment or a profile.
type Model struct {
	Family       string // "opus"; empty for the first models
	Major, Minor int
}

// ParseModel parses a model name. The major version is the first number of at most two digits after
// "claude" or after the family that follows it. A number directly after it is the minor version.
// Eight digits are a date.
func ParseModel(name string) Model {
	name = strings.ToLower(name)
	start := strings.LastIndex(name, "claude")
	if start < 0 {
		return Model{}
	}
	const mayBegin = 1 // index of the last segment that may be the version
	var m Model
	i, major := -1, -1 // index of the segment, and of the version segment
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

// smallNumber parses a number of one or two digits.
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

// Since reports whether the model has the given version or a newer one.
func (m Model) Since(major, minor int) bool {
	return m.Major > major || m.Major == major && m.Minor >= minor
}

// Maximum output sizes, in tokens, by model generation.
// Source: https://platform.claude.com/docs/en/about-claude/models/overview, read 2026-11.
const (
	outputOldest = 4096
	output35     = 8192
	outputOpus4  = 32000
	output37     = 64000
	output46     = 128000
)

// MaxOutput is the output limit in tokens for a call that sets none, because Anthropic requires
// one. Unknown models get 4096.
// Source: contract/provider-transforms.md 2.1.
func (m Model) MaxOutput() int64 {
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

// SupportsThinking reports whether a call can enable thinking. It is true for unknown models, so
// that the provider decides.
func (m Model) SupportsThinking() bool { return m.Major == 0 || m.Since(3, 7) }

// SupportsAdaptiveThinking reports whether the model can choose its amount of thinking
// automatically. The newest models reject budgets.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read 2026-11.
func (m Model) SupportsAdaptiveThinking() bool { return m.Since(4, 6) }

// SupportsEffort reports whether the model supports output_config.effort.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m Model) SupportsEffort() bool {
	return m.SupportsAdaptiveThinking() || m.Family == "opus" && m.Since(4, 5)
}

// SupportsEffortLevel reports whether the model supports an effort value: max came with 4.6 and
// xhigh with 4.7, and earlier models reject them.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m Model) SupportsEffortLevel(effort string) bool {
	switch effort {
	case "max":
		return m.Since(4, 6)
	case "xhigh":
		return m.Since(4, 7)
	}
	return true
}

// SupportsSampling reports whether a call can set temperature, top_p and top_k. From 4.7 on, the
// model rejects all values except its own.
// Source: https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7,
// https://openrouter.ai/docs/guides/evaluate-and-optimize/model-migrations/claude-4-7, read 2026-11.
func (m Model) SupportsSampling() bool { return !m.Since(4, 7) }

// Continues reports whether the model can continue a final assistant message. From 4.6 on, the
// last message must be the user's.
// Source: https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6,
// https://github.com/langchain-ai/deepagents/issues/1585, read 2026-11.
func (m Model) Continues() bool { return !m.Since(4, 6) }

// SupportsForcedTools reports whether a call can require a tool call. Models that always think
// reject that.
// Source: https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5 and
// https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5, read 2026-11.
func (m Model) SupportsForcedTools() bool {
	switch m.Family {
	case "opus", "sonnet":
		return !m.Since(5, 5)
	case "fable", "mythos":
		return !m.Since(5, 1)
	}
	return true
}

// DisabledThinkingType is the value of thinking.type that reduces thinking as far as the model
// allows. It is "disabled", or "between_tools" for models that always write a note there. It is
// "" for models whose thinking cannot be disabled. Models before 5 think only on request.
// Source: as that of SupportsForcedTools.
func (m Model) DisabledThinkingType() string {
	switch {
	case m.Family == "fable", m.Family == "mythos", m.Family == "opus" && m.Since(5, 5):
		return ""
	case m.Family == "sonnet" && m.Since(5, 5):
		return "between_tools"
	}
	return "disabled"
}

// Sampled consumes temperature, top_p or top_k from the request. A value that the model would
// reject is not consumed and is therefore reported as dropped, unless it is the model's own value.
func (m Model) Sampled(t *llm.FieldTracker, name string) (json.RawMessage, bool) {
	switch {
	case m.SupportsSampling():
		return t.Consume(name)
	case name != "top_k" && between(t, name, 1, 1):
		t.Consume(name)
	}
	return nil, false
}
