package anthropic

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func (r *callReader) messages(raw []byte) error {
	if !isList(raw) {
		return fields.Invalid("messages", "must be a list with at least one message")
	}
	i := 0
	for val := range jsonedit.Elements(raw) {
		if err := r.message(val, i); err != nil {
			return err
		}
		i++
	}
	if i == 0 {
		return fields.Invalid("messages", "must have at least one message")
	}
	return nil
}

// message reads a turn. Tool results are part of user turns. They become a separate message
// before the rest of the turn.
// Source: contract/provider-transforms.md 9.1.
func (r *callReader) message(raw []byte, i int) error {
	path := fields.ElementPath("messages", i)
	if !isObject(raw) {
		return fields.Invalid(path, "must be an object")
	}
	m := llm.Message{Index: i}
	var content []byte
	for key, val := range jsonedit.Members(raw) {
		switch name := plainName(key); name {
		case "role":
			m.Role = llm.Role(plainName(val))
		case "content":
			content = val
		default:
			m.Extra = appendExtra(m.Extra, path, name, val)
		}
	}
	switch m.Role {
	case llm.RoleUser, llm.RoleAssistant, llm.RoleSystem:
	default:
		return fields.Invalid(path+".role", `must be "user", "assistant" or "system"`)
	}
	parts, err := r.content(&m, content, path+".content")
	if err != nil {
		return err
	}
	if m.Role == llm.RoleSystem {
		if parts = unattributed(parts); len(parts) == 0 {
			return nil
		}
	}
	tool := llm.Message{Role: llm.RoleTool, Index: i}
	for _, p := range parts {
		if p.Kind == llm.ResultPart {
			tool.Parts = append(tool.Parts, p)
		} else {
			m.Parts = append(m.Parts, p)
		}
	}
	if len(tool.Parts) > 0 {
		r.c.Messages = append(r.c.Messages, tool)
	}
	if len(m.Parts) > 0 || len(tool.Parts) == 0 {
		r.c.Messages = append(r.c.Messages, m)
	}
	return nil
}

func appendExtra(list []llm.Param, path, name string, raw []byte) []llm.Param {
	if jsonedit.IsNull(raw) {
		return list
	}
	return append(list, llm.Param{Name: name, From: path + "." + name, Raw: raw})
}

// content reads a string or a list of blocks. A missing or null content is an error.
func (r *callReader) content(m *llm.Message, raw []byte, path string) ([]llm.Part, error) {
	if text, ok := jsonedit.Unquote(raw); ok {
		return []llm.Part{{Kind: llm.TextPart, Index: -1, Text: text}}, nil
	}
	switch {
	case jsonedit.IsNull(raw):
		return nil, fields.Invalid(path, "is required")
	case !isList(raw):
		return nil, fields.Invalid(path, "must be a string or a list of blocks")
	}
	var parts []llm.Part
	for val := range jsonedit.Elements(raw) {
		p, err := r.block(m, val, fields.ElementPath(path, len(parts)))
		if err != nil {
			return nil, err
		}
		p.Index = len(parts)
		parts = append(parts, p)
	}
	return parts, nil
}
