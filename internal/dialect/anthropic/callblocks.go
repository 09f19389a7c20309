package anthropic

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// block reads one block of a content. Blocks that only Anthropic supports, for example calls of
// its built-in tools and their results, remain unchanged.
func (r *callReader) block(m *llm.Message, raw []byte, path string) (p llm.Part, err error) {
	if !isObject(raw) {
		return p, fields.Invalid(path, "must be an object")
	}
	switch typ := jsonedit.Text(raw, "type"); typ {
	case "text":
		err = fill(&p, raw, path, llm.TextPart, func(name string, val []byte) (known bool, err error) {
			switch name {
			case "text":
				p.Text, err = fields.String(val, path+".text")
				return true, err
			case "citations":
				if isList(val) {
					p.Citations, p.Shape = val, shapeName
				}
				return true, nil
			}
			return false, nil
		})
	case "image", "document":
		err = mediaBlock(&p, raw, path, typ)
	case "thinking":
		err = fill(&p, raw, path, llm.ReasoningPart, texts(map[string]*string{"thinking": &p.Text, "signature": &p.Signature}))
	case "redacted_thinking":
		err = fill(&p, raw, path, llm.SealedPart, texts(map[string]*string{"data": &p.Text}))
	case "tool_use":
		err = r.call(&p, raw, path)
	case "tool_result":
		if m.Role != llm.RoleUser {
			return p, fields.Invalid(path+".type", "can be tool_result only in user messages")
		}
		err = r.result(m, &p, raw, path)
	case "":
		return p, fields.Invalid(path+".type", "is required")
	default:
		p.Kind, p.Raw, p.Shape = llm.OpaquePart, raw, shapeName
	}
	return p, err
}

// fill reads the members of a block: the cache mark, the members that take recognizes, and all
// others as Extra.
func fill(p *llm.Part, raw []byte, path string, kind llm.PartKind, take func(name string, val []byte) (known bool, err error)) error {
	p.Kind = kind
	for key, val := range jsonedit.Members(raw) {
		name := plainName(key)
		if err := blockMembers.Check(name, path, val); err != nil {
			return err
		}
		switch name {
		case "type":
			continue
		case "cache_control":
			p.Cache = fields.ReadCache(val)
			continue
		}
		known, err := take(name, val)
		if err != nil {
			return err
		}
		if !known {
			p.Extra = appendExtra(p.Extra, path, name, val)
		}
	}
	return nil
}

// texts returns a function for fill that stores string members in to.
func texts(to map[string]*string) func(name string, val []byte) (bool, error) {
	return func(name string, val []byte) (bool, error) {
		dst, known := to[name]
		if known {
			*dst, _ = jsonedit.Unquote(val)
		}
		return known, nil
	}
}

func (r *callReader) call(p *llm.Part, raw []byte, path string) error {
	c := &llm.ToolCall{Arguments: "{}"}
	p.Call = c
	err := fill(p, raw, path, llm.CallPart, func(name string, val []byte) (bool, error) {
		switch name {
		case "id":
			c.ID, _ = jsonedit.Unquote(val)
		case "name":
			c.Name, _ = jsonedit.Unquote(val)
		case "input":
			if c.Arguments = string(val); !isObject(val) {
				return true, fields.Invalid(path+".input", "must be an object")
			}
		default:
			return false, nil
		}
		return true, nil
	})
	switch {
	case err != nil:
		return err
	case c.ID == "":
		return fields.Invalid(path+".id", "is required")
	case c.Name == "":
		return fields.Invalid(path+".name", "is required")
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	r.names[c.ID] = c.Name
	return nil
}

// result reads the result of a call.
func (r *callReader) result(m *llm.Message, p *llm.Part, raw []byte, path string) error {
	res := &llm.ToolResult{}
	p.Result = res
	err := fill(p, raw, path, llm.ResultPart, func(name string, val []byte) (known bool, err error) {
		switch name {
		case "tool_use_id":
			res.ID, _ = jsonedit.Unquote(val)
		case "is_error":
			res.Error = string(val) == "true"
		case "content":
			if !jsonedit.IsNull(val) {
				inner := llm.Message{Role: llm.RoleTool, Index: m.Index}
				res.Parts, err = r.content(&inner, val, path+".content")
			}
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	name, known := r.names[res.ID]
	switch {
	case res.ID == "":
		return fields.Invalid(path+".tool_use_id", "is required")
	case !known:
		return fields.Invalid(path+".tool_use_id", "must match a tool_use of an earlier message")
	}
	res.Name = name
	return nil
}
