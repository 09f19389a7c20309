package usage

import (
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// iterations reads the steps of a Claude message. The usage next to the list includes the steps of
// the message itself. It does not include compactions, which have the price of the same model, or
// calls of an advisor model, which have that model's price.
// Source: https://platform.claude.com/docs/en/build-with-claude/compaction,
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool, read 2026-11.
func (c *Counter) iterations(list []byte) {
	c.compacted, c.Found.Units[llm.AdvisorInput], c.Found.Units[llm.AdvisorOutput] = llm.Usage{}, 0, 0
	for step := range jsonedit.Elements(list) {
		switch kind, _ := jsonedit.Find(step, "type"); string(kind) {
		case `"compaction"`:
			c.compacted = c.compacted.Add(ReadObject(llm.Messages, step))
		case `"advisor_message"`:
			u := ReadObject(llm.Messages, step)
			c.Found.Units[llm.AdvisorInput] += u.InputTokens
			c.Found.Units[llm.AdvisorOutput] += u.OutputTokens
		}
	}
}

// region reads where Claude ran. Global processing has the usual price.
// Source: https://platform.claude.com/docs/en/manage-claude/data-residency, read 2026-11.
func (c *Counter) region(raw []byte) {
	switch string(raw) {
	case `"global"`, `"not_available"`:
		c.Found.Region = ""
	default:
		c.Found.Region, _ = jsonedit.Unquote(raw)
	}
}
