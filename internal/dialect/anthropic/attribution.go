package anthropic

import (
	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

// unattributed returns the instructions without the attribution line of coding agents, which is
// meant for Anthropic only and differs with every call. It omits a text that has no other line.
func unattributed(parts []llm.Part) []llm.Part {
	remaining := parts[:0]
	for _, p := range parts {
		if p.Kind == llm.TextPart {
			rest, found := claude.CutAttribution(p.Text)
			if found && conversation.IsBlank(rest) {
				continue
			}
			p.Text = rest
		}
		remaining = append(remaining, p)
	}
	return remaining
}
