package dialect

import (
	"slices"

	"sluice/internal/llm"
)

// urging closes a conversation in which the caller lets the model have the last word.
const urging = "Go on."

// EndWithUserTurn is the call for models that want the user to speak last: where the assistant does,
// and waits for nothing, the user asks it to go on. The call itself stays as it is.
func EndWithUserTurn(c *llm.Call) *llm.Call {
	last := -1
	for i := range c.Messages {
		if m := &c.Messages[i]; !m.Role.Instructs() && hasContent(m) {
			last = i
		}
	}
	if last < 0 || c.Messages[last].Role != llm.RoleAssistant {
		return c
	}
	if slices.ContainsFunc(c.Messages[last].Parts, func(p llm.Part) bool { return p.Kind == llm.CallPart }) {
		return c // what the call came to is missing, as the provider will say
	}
	urged := *c
	urged.Messages = append(slices.Clone(c.Messages), llm.Message{
		Role: llm.RoleUser, Index: c.Messages[last].Index, Parts: []llm.Part{{Kind: llm.TextPart, Index: -1, Text: urging}},
	})
	return &urged
}
