package claude

import (
	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// OmitsThinking reports whether the model signs its thinking but leaves the text empty by default.
// The default of thinking.display is "omitted" from 4.7 on, and "summarized" before.
// Source: https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7, read 2026-11.
func (m Model) OmitsThinking() bool { return m.Since(4, 7) }

// VisibleThinking is the thinking parameter of a call that requests reasoning in OpenAI's format, for
// models that choose the amount of thinking: {"type":"adaptive","display":"summarized"}. Callers
// that use reasoning_effort or reasoning.summary expect a visible summary.
// The bytes belong to the caller.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and, for Bedrock,
// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html, read 2026-11.
func (m Model) VisibleThinking() []byte {
	if m.OmitsThinking() {
		return []byte(`{"type":"adaptive","display":"summarized"}`)
	}
	return []byte(`{"type":"adaptive"}`)
}

// AddsDisplay is the parameter that VisibleThinking adds without a request of the caller.
func (m Model) AddsDisplay() dialect.Added {
	if m.OmitsThinking() {
		return dialect.AddedDisplay
	}
	return 0
}

// AsksForSummary reports whether a call on responses requests a reasoning summary without an
// effort, for a model that accepts thinking with the call.
// It consumes no parameter of t. Source: contract/provider-transforms.md 10.1.
func (m Model) AsksForSummary(c *llm.Call, t *llm.FieldTracker) bool {
	if !m.SupportsAdaptiveThinking() || c.Surface == llm.Messages {
		return false
	}
	for _, name := range [...]string{"reasoning.summary", "reasoning.generate_summary"} {
		if _, requested := t.Peek(name); requested {
			return AllowsReasoning(c, t)
		}
	}
	return false
}
