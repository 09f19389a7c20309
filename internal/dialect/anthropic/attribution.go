package anthropic

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

// attribution is the prefix of a line that Claude's coding agents write before their
// instructions, for Anthropic's accounts: "x-anthropic-billing-header: cc_version=2.1.117.48f;
// cc_entrypoint=cli; cch=71fea;". The line is not meant for the model. In many agent versions it
// differs with every call, so a provider that caches prompt prefixes would never find a match.
// Source: github.com/anthropics/claude-code/issues/68900, 2026-06-16.
const attribution = "x-anthropic-billing-header:"

// unattributed returns the instructions without that line. It omits a text that has no other line.
func unattributed(parts []llm.Part) []llm.Part {
	remaining := parts[:0]
	for _, p := range parts {
		if text := strings.TrimLeft(p.Text, " \t\r\n"); p.Kind == llm.TextPart && strings.HasPrefix(text, attribution) {
			if _, p.Text, _ = strings.Cut(text, "\n"); conversation.IsBlank(p.Text) {
				continue
			}
		}
		remaining = append(remaining, p)
	}
	return remaining
}
