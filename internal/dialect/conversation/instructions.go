package conversation

import "sluice/internal/kernel/llm"

// DropInstructionOrder reports to t the instruction messages that a provider receives before the
// conversation although other messages precede them. It does not report those in stay.
func DropInstructionOrder(t *llm.FieldTracker, c *llm.Call, stay map[int]bool) {
	conversationStarted := false
	for i := range c.Messages {
		switch m := &c.Messages[i]; {
		case !m.Role.Instructs():
			conversationStarted = conversationStarted || HasContent(m)
		case conversationStarted && m.Index >= 0 && !stay[i] && HasContent(m):
			t.Drop(c.Path(m, -1))
		}
	}
}
