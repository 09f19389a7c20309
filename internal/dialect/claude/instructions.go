package claude

import (
	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

// TakesSystem reports whether the model accepts instructions in the middle of a conversation: Opus
// since 4.8, Fable and Mythos since 5, Sonnet and Haiku since 5.5. Others return an error.
// Source: https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages, read 2026-11.
func (m Model) TakesSystem() bool {
	switch m.Family {
	case "opus":
		return m.Since(4, 8)
	case "fable", "mythos":
		return m.Since(5, 0)
	case "sonnet", "haiku":
		return m.Since(5, 5)
	}
	return false
}

// MidConversationInstructions are the instruction messages that may remain in the middle of a
// conversation, by their index in c.Messages. They contain only text, follow a user message or tool
// results, and are last or precede an assistant message.
// Source: as that of TakesSystem.
func MidConversationInstructions(c *llm.Call) map[int]bool {
	var stay map[int]bool
	for i := range c.Messages {
		m := &c.Messages[i]
		if !m.Role.Instructs() || m.Index < 0 || !onlyText(m) {
			continue
		}
		before, after := speaker(c, i, -1), speaker(c, i, 1)
		if before != llm.RoleUser && before != llm.RoleTool || after != "" && after != llm.RoleAssistant {
			continue
		}
		if stay == nil {
			stay = map[int]bool{}
		}
		stay[i] = true
	}
	return stay
}

// speaker is the role of the nearest message with content that is not an instruction, before the
// i-th (step -1) or after it (step 1); empty if there is none.
func speaker(c *llm.Call, i, step int) llm.Role {
	for k := i + step; k >= 0 && k < len(c.Messages); k += step {
		if m := &c.Messages[k]; !m.Role.Instructs() && conversation.HasContent(m) {
			return m.Role
		}
	}
	return ""
}

func onlyText(m *llm.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind != llm.TextPart {
			return false
		}
	}
	return true
}
