package dialect

import (
	"sluice/internal/llm"
)

// OmitsThinking reports whether the model signs its thinking and leaves the text empty unless the
// call asks for it: the default of thinking.display is "omitted" from 4.7 on, and "summarized"
// before.
// Source: https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7, read 2026-11.
func (m ClaudeModel) OmitsThinking() bool { return m.Since(4, 7) }

// VisibleThinking is the thinking of a call that asks for reasoning in OpenAI's terms, for models
// that decide by themselves how much to think: {"type":"adaptive","display":"summarized"}. Callers
// of reasoning_effort and reasoning.summary expect to see what the model thinks, as a summary.
// The bytes belong to the caller.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking and, for Bedrock,
// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html, read 2026-11.
func (m ClaudeModel) VisibleThinking() []byte {
	if m.OmitsThinking() {
		return []byte(`{"type":"adaptive","display":"summarized"}`)
	}
	return []byte(`{"type":"adaptive"}`)
}

// AddsDisplay is what VisibleThinking has without a request of the caller.
func (m ClaudeModel) AddsDisplay() Added {
	if m.OmitsThinking() {
		return AddedDisplay
	}
	return 0
}

// AsksForSummary reports whether a call on responses asks for a summary of the reasoning without
// an effort, and the model can be asked to think for it without refusing the call.
// It takes no parameter of t. Source: contract/provider-transforms.md 10.1.
func (m ClaudeModel) AsksForSummary(c *llm.Call, t *llm.FieldTracker) bool {
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
