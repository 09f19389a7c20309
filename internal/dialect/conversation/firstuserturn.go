package conversation

import (
	"slices"

	"sluice/internal/kernel/llm"
)

// greeting opens a conversation that begins with an assistant message, as in chatbots, for
// providers that require a user message first.
const greeting = "Hello."

// EnsureUserMessage returns the call for providers that separate instructions from messages. If the
// call has only instructions, the last one becomes a user message, because these providers require
// one. It does not change c.
func EnsureUserMessage(c *llm.Call) *llm.Call {
	last := len(c.Messages) - 1
	if last < 0 || slices.ContainsFunc(c.Messages, func(m llm.Message) bool { return !m.Role.Instructs() }) {
		return c
	}
	call := *c
	call.Messages = slices.Clone(c.Messages)
	call.Messages[last].Role = llm.RoleUser
	return &call
}

// StartWithUserTurn is EnsureUserMessage for providers that also require a user message first. If
// the assistant begins, a greeting of the user precedes it.
func StartWithUserTurn(c *llm.Call) *llm.Call {
	c = EnsureUserMessage(c)
	i := slices.IndexFunc(c.Messages, func(m llm.Message) bool { return !m.Role.Instructs() && HasContent(&m) })
	if i < 0 || c.Messages[i].Role != llm.RoleAssistant {
		return c
	}
	greeted := *c
	hello := llm.Message{Role: llm.RoleUser, Index: c.Messages[i].Index, Parts: []llm.Part{{Kind: llm.TextPart, Index: -1, Text: greeting}}}
	greeted.Messages = slices.Insert(slices.Clone(c.Messages), i, hello)
	return &greeted
}

// HasContent reports whether a message has more than blank texts, which are never sent.
func HasContent(m *llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
		return p.Kind != llm.TextPart || !IsBlank(p.Text)
	})
}
