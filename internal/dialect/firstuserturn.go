package dialect

import (
	"slices"

	"sluice/internal/llm"
)

// greeting opens a conversation whose first words the caller lets the model say, as chatbots
// do, at providers that want the user to begin.
const greeting = "Hello."

// EnsureUserMessage is the call for providers that know instructions as something else than messages: where
// it has nothing else, what was said last is the user's, because they want to be asked. The call
// itself stays as it is.
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

// StartWithUserTurn is Asked for providers that want the user to begin, too: where the model does, the
// user greets it before.
func StartWithUserTurn(c *llm.Call) *llm.Call {
	c = EnsureUserMessage(c)
	i := slices.IndexFunc(c.Messages, func(m llm.Message) bool { return !m.Role.Instructs() && hasContent(&m) })
	if i < 0 || c.Messages[i].Role != llm.RoleAssistant {
		return c
	}
	greeted := *c
	hello := llm.Message{Role: llm.RoleUser, Index: c.Messages[i].Index, Parts: []llm.Part{{Kind: llm.TextPart, Index: -1, Text: greeting}}}
	greeted.Messages = slices.Insert(slices.Clone(c.Messages), i, hello)
	return &greeted
}

// hasContent reports whether a message is more than blank texts, which nobody is sent.
func hasContent(m *llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
		return p.Kind != llm.TextPart || !IsBlank(p.Text)
	})
}
