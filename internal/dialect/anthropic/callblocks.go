package anthropic

import (
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// block reads one block of a content. What only Anthropic knows, for example the calls
// of its own tools and their results, stays as it is.
func (r *callReader) block(m *llm.Message, raw []byte, at string) (p llm.Part, err error) {
	if !isObject(raw) {
		return p, dialect.InvalidField(at, "must be an object")
	}
	switch typ := splice.Text(raw, "type"); typ {
	case "text":
		err = fill(&p, raw, at, llm.TextPart, func(name string, val []byte) (known bool, err error) {
			switch name {
			case "text":
				p.Text, err = dialect.String(val, at+".text")
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
		err = mediaBlock(&p, raw, at, typ)
	case "thinking":
		err = fill(&p, raw, at, llm.ThoughtPart, texts(map[string]*string{"thinking": &p.Text, "signature": &p.Signature}))
	case "redacted_thinking":
		err = fill(&p, raw, at, llm.SealedPart, texts(map[string]*string{"data": &p.Text}))
	case "tool_use":
		err = r.call(&p, raw, at)
	case "tool_result":
		if m.Role != llm.RoleUser {
			return p, dialect.InvalidField(at+".type", "may be tool_result only in messages of the user")
		}
		err = r.result(m, &p, raw, at)
	case "":
		return p, dialect.InvalidField(at+".type", "is missing")
	default:
		p.Kind, p.Raw, p.Shape = llm.OpaquePart, raw, shapeName
	}
	return p, err
}

// fill reads the members of a block: the mark of the cache, what take knows, and all
// else as Extra.
func fill(p *llm.Part, raw []byte, at string, kind llm.PartKind, take func(name string, val []byte) (known bool, err error)) error {
	p.Kind = kind
	for key, val := range splice.Members(raw) {
		name := plainName(key)
		if err := blockMembers.Check(name, at, val); err != nil {
			return err
		}
		switch name {
		case "type":
			continue
		case "cache_control":
			p.Cache = dialect.ReadCache(val)
			continue
		}
		known, err := take(name, val)
		if err != nil {
			return err
		}
		if !known {
			p.Extra = appendExtra(p.Extra, at, name, val)
		}
	}
	return nil
}

// texts takes members that are texts.
func texts(to map[string]*string) func(name string, val []byte) (bool, error) {
	return func(name string, val []byte) (bool, error) {
		dst, known := to[name]
		if known {
			*dst, _ = splice.Unquote(val)
		}
		return known, nil
	}
}

func (r *callReader) call(p *llm.Part, raw []byte, at string) error {
	c := &llm.ToolCall{Arguments: "{}"}
	p.Call = c
	err := fill(p, raw, at, llm.CallPart, func(name string, val []byte) (bool, error) {
		switch name {
		case "id":
			c.ID, _ = splice.Unquote(val)
		case "name":
			c.Name, _ = splice.Unquote(val)
		case "input":
			if c.Arguments = string(val); !isObject(val) {
				return true, dialect.InvalidField(at+".input", "must be an object")
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
		return dialect.InvalidField(at+".id", "is missing")
	case c.Name == "":
		return dialect.InvalidField(at+".name", "is missing")
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	r.names[c.ID] = c.Name
	return nil
}

// result reads what a call came to.
func (r *callReader) result(m *llm.Message, p *llm.Part, raw []byte, at string) error {
	res := &llm.ToolResult{}
	p.Result = res
	err := fill(p, raw, at, llm.ResultPart, func(name string, val []byte) (known bool, err error) {
		switch name {
		case "tool_use_id":
			res.ID, _ = splice.Unquote(val)
		case "is_error":
			res.Error = string(val) == "true"
		case "content":
			if !splice.IsNull(val) {
				inner := llm.Message{Role: llm.RoleTool, Index: m.Index}
				res.Parts, err = r.content(&inner, val, at+".content")
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
		return dialect.InvalidField(at+".tool_use_id", "is missing")
	case !known:
		return dialect.InvalidField(at+".tool_use_id", "belongs to no tool_use of an earlier message")
	}
	res.Name = name
	return nil
}
