package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// iterations takes the steps of a message of Claude's. Those of the message itself are in the
// figures beside the list; what a compaction used, at the price of the same model, and what
// another model used that was asked for advice, at its own, is not.
// Source: https://platform.claude.com/docs/en/build-with-claude/compaction,
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool, read 2026-11.
func (c *counts) iterations(list []byte) {
	c.compacted, c.u.Units[llm.AdvisorInput], c.u.Units[llm.AdvisorOutput] = llm.Usage{}, 0, 0
	for step := range splice.Elements(list) {
		switch kind, _ := splice.Find(step, "type"); string(kind) {
		case `"compaction"`:
			c.compacted = c.compacted.Add(UsageOf(llm.Messages, step))
		case `"advisor_message"`:
			u := UsageOf(llm.Messages, step)
			c.u.Units[llm.AdvisorInput] += u.InputTokens
			c.u.Units[llm.AdvisorOutput] += u.OutputTokens
		}
	}
}

// region takes where Claude ran. Anywhere is the usual price.
// Source: https://platform.claude.com/docs/en/manage-claude/data-residency, read 2026-11.
func (c *counts) region(raw []byte) {
	switch string(raw) {
	case `"global"`, `"not_available"`:
		c.u.Region = ""
	default:
		c.u.Region, _ = splice.Unquote(raw)
	}
}
