package responses

import (
	"cmp"
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// input reads the instructions and the items as the conversation.
func (r *callReader) input() error {
	if r.instructions != nil {
		text, err := fields.String(r.instructions, "instructions")
		if err != nil {
			return err
		}
		r.c.Messages = append(r.c.Messages, llm.Message{Role: llm.RoleSystem, Index: -1, Parts: []llm.Part{{Kind: llm.TextPart, Index: -1, Text: text}}})
	}
	if jsonedit.IsNull(r.items) {
		return fields.Invalid("input", "is required; send it in the request body")
	}
	if text, ok := jsonedit.Unquote(r.items); ok {
		r.c.Messages = append(r.c.Messages, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.TextPart, Index: -1, Text: text}}})
		return nil
	}
	if r.items[0] != '[' {
		return fields.Invalid("input", "must be a string or a list of items")
	}
	i := 0
	for val := range jsonedit.Elements(r.items) {
		if err := r.item(val, i, fields.ElementPath("input", i)); err != nil {
			return err
		}
		i++
	}
	if i == 0 {
		return fields.Invalid("input", "must have at least one item")
	}
	return nil
}

func (r *callReader) item(raw []byte, i int, path string) error {
	if raw[0] != '{' {
		return fields.Invalid(path, "must be an object")
	}
	switch kind := jsonedit.Text(raw, "type"); kind {
	case "message", "":
		return r.message(raw, i, path)
	case "reasoning":
		r.readReasoning(raw, i)
		return nil
	case "function_call":
		return r.call(raw, i, path, "arguments")
	case "custom_tool_call":
		return r.call(raw, i, path, "input")
	case "function_call_output", "custom_tool_call_output":
		return r.result(raw, i, path, "output")
	case "item_reference":
		return fields.Invalid(path+".type", `is "item_reference", which requires a provider that stores items; send the item itself`)
	default:
		r.unserved(path, kind, "an item that requires a provider with native responses support")
		return nil
	}
}

func (r *callReader) message(raw []byte, i int, path string) error {
	var m llm.Message
	var content []byte
	id := ""
	for name, val := range jsonedit.Members(raw) {
		n := plainName(name)
		if err := itemMembers.Check(n, path, val); err != nil {
			return err
		}
		switch {
		case jsonedit.IsNull(val), n == "type", n == "status":
		case n == "role":
			role, _ := jsonedit.Unquote(val)
			m.Role = llm.Role(role)
		case n == "id":
			id, _ = jsonedit.Unquote(val)
		case n == "name":
			m.Name, _ = jsonedit.Unquote(val)
		case n == "content":
			content = val
		default:
			m.Extra = extra(m.Extra, n, path, val)
		}
	}
	switch m.Role {
	case llm.RoleTool:
		return r.result(raw, i, path, "content")
	case llm.RoleSystem, llm.RoleDeveloper, llm.RoleUser, llm.RoleAssistant:
	default:
		return fields.Invalid(path+".role", `must be "system", "developer", "user" or "assistant"`)
	}
	parts, err := fields.ReadContent(content, path+".content", readPart)
	if err != nil {
		return err
	}
	for k := range parts {
		parts[k].ID = id
	}
	m.Parts = parts
	r.add(m, i)
	return nil
}

// readReasoning reads a reasoning item. Its text is the complete reasoning or, without that, the
// summary. An item with only a signature is valid too: newer Claude models sign reasoning that they
// do not show. The data of redacted reasoning has a mark, see dialect.Signatures.
// Source: https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read 2026-11.
func (r *callReader) readReasoning(raw []byte, i int) {
	p := llm.Part{Kind: llm.ReasoningPart, Index: -1, ID: jsonedit.Text(raw, "id"), Signature: jsonedit.Text(raw, "encrypted_content")}
	for _, list := range [...]string{"content", "summary"} {
		texts, _ := jsonedit.Find(raw, list)
		if p.Text = joined(texts); p.Text != "" {
			break
		}
	}
	if p.Text == "" && p.Signature == "" {
		return
	}
	r.add(llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{p}}, i)
}

// joined returns the texts of a list of parts, separated by partBreak:
// [{"type":"summary_text","text":"…"}].
func joined(list []byte) string {
	var texts []string
	for val := range jsonedit.Elements(list) {
		if t := jsonedit.Text(val, "text"); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, partBreak)
}

// partBreak separates the parts of a summary when they become one text.
const partBreak = "\n\n"

func (r *callReader) call(raw []byte, i int, path, args string) error {
	p := llm.Part{Kind: llm.CallPart, Index: -1, Call: &llm.ToolCall{Custom: args == "input"}}
	var space llm.Namespace
	m := llm.Message{Role: llm.RoleAssistant}
	for name, val := range jsonedit.Members(raw) {
		n := plainName(name)
		if err := itemMembers.Check(n, path, val); err != nil {
			return err
		}
		switch {
		case jsonedit.IsNull(val), n == "type", n == "status":
		case n == "id":
			p.ID, _ = jsonedit.Unquote(val)
		case n == "call_id":
			p.Call.ID, _ = jsonedit.Unquote(val)
		case n == "name":
			p.Call.Name, _ = jsonedit.Unquote(val)
		case n == "namespace":
			space.Name, _ = jsonedit.Unquote(val)
		case n == "thought_signature":
			p.Signature, _ = jsonedit.Unquote(val)
		case n == "cache_control":
			p.Cache = fields.ReadCache(val)
		case n == args:
			text, ok := jsonedit.Unquote(val)
			if !ok {
				return fields.Invalid(path+"."+args, "must be a string")
			}
			p.Call.Arguments = text
		default:
			p.Extra = extra(p.Extra, n, path, val)
		}
	}
	switch {
	case p.Call.Name == "":
		return fields.Invalid(path+".name", "is required")
	case p.Call.ID == "":
		return fields.Invalid(path+".call_id", "is required")
	}
	if space.Name != "" {
		p.Call.Name = space.Join(p.Call.Name)
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	r.names[p.Call.ID] = p.Call.Name
	m.Parts = []llm.Part{p}
	r.add(m, i)
	return nil
}

// result reads a tool result. from is the member that contains a text or parts.
func (r *callReader) result(raw []byte, i int, path, from string) error {
	res := &llm.ToolResult{ID: cmp.Or(jsonedit.Text(raw, "call_id"), jsonedit.Text(raw, "tool_call_id"))}
	name, known := r.names[res.ID]
	switch {
	case res.ID == "":
		return fields.Invalid(path+".call_id", "is required")
	case !known:
		return fields.Invalid(path+".call_id", "must match a call of an earlier item")
	}
	res.Name = name
	p := llm.Part{Kind: llm.ResultPart, Index: -1, ID: jsonedit.Text(raw, "id"), Result: res}
	for name, val := range jsonedit.Members(raw) {
		n := plainName(name)
		if err := itemMembers.Check(n, path, val); err != nil {
			return err
		}
		switch n {
		case "type", "id", "status", "call_id", "tool_call_id", "role", "name":
		case "cache_control":
			p.Cache = fields.ReadCache(val)
		case from:
			parts, err := fields.ReadContent(val, path+"."+from, readResultPart)
			if err != nil {
				return err
			}
			res.Parts = parts
		default:
			if !jsonedit.IsNull(val) {
				p.Extra = extra(p.Extra, n, path, val)
			}
		}
	}
	r.add(llm.Message{Role: llm.RoleTool, Parts: []llm.Part{p}}, i)
	return nil
}

// add appends a message to the conversation. Consecutive items of the model become one turn.
func (r *callReader) add(m llm.Message, i int) {
	m.Index = i
	if m.Role == llm.RoleAssistant && r.turn {
		turn := &r.c.Messages[len(r.c.Messages)-1]
		for k := range m.Parts {
			m.Parts[k].Index = turn.Index - i - 1
		}
		turn.Parts = append(turn.Parts, m.Parts...)
		turn.Extra = append(turn.Extra, m.Extra...)
		return
	}
	r.turn = m.Role == llm.RoleAssistant
	r.c.Messages = append(r.c.Messages, m)
}
