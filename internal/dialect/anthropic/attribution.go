package anthropic

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// attribution begins a line that Claude's coding agents put before their instructions, for
// Anthropic's accounts: "x-anthropic-billing-header: cc_version=2.1.117.48f;
// cc_entrypoint=cli; cch=71fea;". It is none of the model's business, and of many versions
// no two calls have the same: a provider that keeps the beginning of a prompt would find
// another one in each.
// Source: github.com/anthropics/claude-code/issues/68900, 2026-06-16.
const attribution = "x-anthropic-billing-header:"

// unattributed are instructions without that line; nothing stays of a text that has no other.
func unattributed(parts []llm.Part) []llm.Part {
	remaining := parts[:0]
	for _, p := range parts {
		if text := strings.TrimLeft(p.Text, " \t\r\n"); p.Kind == llm.TextPart && strings.HasPrefix(text, attribution) {
			if _, p.Text, _ = strings.Cut(text, "\n"); dialect.IsBlank(p.Text) {
				continue
			}
		}
		remaining = append(remaining, p)
	}
	return remaining
}
