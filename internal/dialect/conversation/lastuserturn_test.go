package conversation_test

import (
	"testing"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

// The user is given the last word where the assistant has it and nothing is missing.
func TestUserLast(t *testing.T) {
	t.Parallel()
	message := func(r llm.Role, parts ...llm.Part) llm.Message { return llm.Message{Role: r, Parts: parts} }
	text := llm.Part{Kind: llm.TextPart, Text: "x"}
	call := llm.Part{Kind: llm.CallPart, Call: &llm.ToolCall{ID: "c", Name: "f"}}
	result := llm.Part{Kind: llm.ResultPart, Result: &llm.ToolResult{ID: "c"}}
	for name, c := range map[string]struct {
		messages []llm.Message
		urged    bool
	}{
		"the user":                   {[]llm.Message{message(llm.RoleAssistant, text), message(llm.RoleUser, text)}, false},
		"the assistant":              {[]llm.Message{message(llm.RoleUser, text), message(llm.RoleAssistant, text)}, true},
		"instructions behind it":     {[]llm.Message{message(llm.RoleUser, text), message(llm.RoleAssistant, text), message(llm.RoleSystem, text)}, true},
		"a blank of the user's":      {[]llm.Message{message(llm.RoleAssistant, text), message(llm.RoleUser, llm.Part{Kind: llm.TextPart, Text: " "})}, true},
		"a call without its result":  {[]llm.Message{message(llm.RoleUser, text), message(llm.RoleAssistant, text, call)}, false},
		"a result":                   {[]llm.Message{message(llm.RoleAssistant, call), message(llm.RoleTool, result)}, false},
		"nothing but instructions":   {[]llm.Message{message(llm.RoleSystem, text)}, false},
		"nothing":                    {nil, false},
		"a result and what is said":  {[]llm.Message{message(llm.RoleTool, result), message(llm.RoleAssistant, text)}, true},
		"the assistant's own blanks": {[]llm.Message{message(llm.RoleUser, text), message(llm.RoleAssistant, llm.Part{Kind: llm.TextPart})}, false},
	} {
		original := &llm.Call{Messages: c.messages}
		out := conversation.EndWithUserTurn(original)
		n := len(out.Messages)
		if urged := n == len(c.messages)+1 && out.Messages[n-1].Role == llm.RoleUser && out.Messages[n-1].Parts[0].Text == "Go on."; urged != c.urged || len(original.Messages) != len(c.messages) {
			t.Errorf("%s: %+v", name, out.Messages)
		}
	}
}
