package dialecttest

import (
	"slices"

	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/llm"
)

// Rest is what is left of a call without what a dialect said it had to leave out:
// dialect.Outgoing.Lost. So what was sent and what Lost names can be shown to be the
// whole. The call itself stays.
func Rest(c *llm.Call, dropped []string) *llm.Call {
	c = clone(c)
	gone := func(path string) bool { return slices.Contains(dropped, path) }
	c.Params = without(c.Params, gone)
	if gone(c.Choice.From) {
		c.Choice = llm.ToolChoice{}
	}
	if c.Format != nil && gone(c.Format.From) {
		c.Format = nil
	}
	var tools []llm.Tool
	for _, t := range c.Tools {
		path := fields.ElementPath("tools", t.Index)
		if gone(path) {
			continue
		}
		if gone(path + ".cache_control") {
			t.Cache = nil
		}
		t.Extra = without(t.Extra, gone)
		tools = append(tools, t)
	}
	c.Tools = tools
	var messages []llm.Message
	for _, m := range c.Messages {
		if m = restOf(c, m, gone); len(m.Parts) > 0 {
			messages = append(messages, m)
		}
	}
	c.Messages = messages
	return c
}

func restOf(c *llm.Call, m llm.Message, gone func(string) bool) llm.Message {
	m.Extra = without(m.Extra, gone)
	if gone(c.Path(&m, -1) + ".name") {
		m.Name = ""
	}
	var parts []llm.Part
	for _, p := range m.Parts {
		path := c.Path(&m, p.Index)
		if gone(path) {
			continue
		}
		if gone(path + ".cache_control") {
			p.Cache = nil
		}
		if gone(path + ".citations") {
			p.Citations, p.Shape = nil, ""
		}
		if gone(path+".signature") || gone(path+".encrypted_content") {
			p.Signature, p.Shape = "", ""
		}
		p.Extra = without(p.Extra, gone)
		parts = append(parts, p)
	}
	m.Parts = parts
	return m
}

func without(list []llm.Param, gone func(string) bool) []llm.Param {
	return slices.DeleteFunc(list, func(p llm.Param) bool { return gone(p.From) })
}
