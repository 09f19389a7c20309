package conversation

import (
	"slices"

	"sluice/internal/kernel/llm"
)

// urging closes a conversation whose last message is the assistant's.
const urging = "Go on."

// EndWithUserTurn returns the call for models that require a user message last. If the assistant's
// message is last and waits for nothing, a user message asks it to continue. It does not change c.
func EndWithUserTurn(c *llm.Call) *llm.Call {
	last := -1
	for i := range c.Messages {
		if m := &c.Messages[i]; !m.Role.Instructs() && HasContent(m) {
			last = i
		}
	}
	if last < 0 || c.Messages[last].Role != llm.RoleAssistant {
		return c
	}
	if slices.ContainsFunc(c.Messages[last].Parts, func(p llm.Part) bool { return p.Kind == llm.CallPart }) {
		return c // the result of the call is missing, as the provider will report
	}
	urged := *c
	urged.Messages = append(slices.Clone(c.Messages), llm.Message{
		Role: llm.RoleUser, Index: c.Messages[last].Index, Parts: []llm.Part{{Kind: llm.TextPart, Index: -1, Text: urging}},
	})
	return &urged
}
