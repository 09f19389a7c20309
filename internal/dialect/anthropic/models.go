package anthropic

import (
	"strconv"
	"strings"
)

// model is what the name of a model tells: "claude-opus-4-6" and
// "us.anthropic.claude-3-5-haiku-20241022-v1:0" alike. Of a name that is none of
// Claude's, for example of a deployment, major is 0.
type model struct {
	family       string // "opus"; empty for the first models
	major, minor int
}

// modelOf takes the first number of at most two digits behind "claude" for the
// version; what follows it directly is the minor one, and eight digits are a date.
func modelOf(name string) model {
	_, rest, ok := strings.Cut(strings.ToLower(name), "claude")
	if !ok {
		return model{}
	}
	var m model
	last := -1 // place of the major version
	for i, word := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("-._@:/", r) }) {
		n, err := strconv.Atoi(word)
		switch {
		case err != nil:
			if m.family == "" && len(word) > 3 {
				m.family = word
			}
		case len(word) > 2:
		case m.major == 0:
			m.major, last = n, i
		case last == i-1 && m.minor == 0:
			m.minor = n
		}
	}
	return m
}

// since reports whether the model is of that version or newer.
func (m model) since(major, minor int) bool {
	return m.major > major || m.major == major && m.minor >= minor
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

// maxOutput is how long an answer may become when the caller does not say:
// Anthropic wants to be told. Models that are not known get 4096.
// Source: contract/provider-transforms.md 2.1.
func (m model) maxOutput() int64 {
	switch {
	case m.since(4, 6):
		return output46
	case m.since(4, 5):
		return output37
	case m.since(4, 0) && m.family == "opus":
		return outputOpus4
	case m.since(3, 7):
		return output37
	case m.since(3, 5):
		return output35
	}
	return outputOldest
}

// thinks reports whether the model can be told to think; of one that is not known the
// provider will say.
func (m model) thinks() bool { return m.major == 0 || m.since(3, 7) }

// adapts reports whether the model decides by itself how much to think. Budgets are
// refused by the newest.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read 2026-11.
func (m model) adapts() bool { return m.since(4, 6) }

// weighs reports whether the model knows output_config.effort.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m model) weighs() bool { return m.adapts() || m.family == "opus" && m.since(4, 5) }

// knows reports whether a word of effort is one of the model's: xhigh came with 4.7, and those
// before refuse it.
// Source: https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11.
func (m model) knows(effort string) bool { return effort != "xhigh" || m.since(4, 7) }
