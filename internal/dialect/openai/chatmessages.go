package openai

import (
	"slices"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func (r *callReader) messages() error {
	if r.Kind() != '[' {
		return fields.Invalid("messages", "must be a list")
	}
	if r.c.Messages == nil {
		r.c.Messages = make([]llm.Message, 0, usualMessages)
	}
	for i := range r.Elements() {
		if r.Kind() != '{' {
			return fields.Invalid(fields.ElementPath("messages", i), "must be an object")
		}
		if err := r.message(i); err != nil {
			return err
		}
	}
	return nil
}

// messageFieldPath returns the path of a field of a message: "messages[2].content".
func messageFieldPath(m *llm.Message, field string) string {
	return fields.ElementPath("messages", m.Index) + "." + field
}

// turn contains the raw fields of one message. A field that is absent or null is nil.
type turn struct {
	role, name, content, blocks, calls, function, callID, refusal, reasoning, details, cache []byte
}

func (r *callReader) message(i int) error {
	r.c.Messages = append(r.c.Messages, llm.Message{Index: i})
	m := &r.c.Messages[len(r.c.Messages)-1]
	var f turn
	for name := range r.Members() {
		if r.Null() {
			continue
		}
		raw := r.Raw()
		if to := f.field(name); to == nil {
			m.Extra = append(m.Extra, llm.Param{Name: known(name), From: messageFieldPath(m, string(name)), Raw: raw})
		} else if *to = raw; !messageMembers.Fit(string(name), raw) {
			return messageMembers.Refuse(string(name), fields.ElementPath("messages", i))
		}
	}
	m.Role = llm.Role(intern(f.role))
	m.Name, _ = jsonedit.Unquote(f.name)
	var err error
	switch m.Role {
	case llm.RoleSystem, llm.RoleDeveloper, llm.RoleUser:
		m.Parts, err = readContent(m, f.content, "content")
	case llm.RoleAssistant:
		err = r.assistant(m, &f)
	case llm.RoleTool, "function":
		err = r.result(m, &f)
	default:
		return fields.Invalid(messageFieldPath(m, "role"), `must be "system", "developer", "user", "assistant" or "tool"`)
	}
	if f.cache != nil && len(m.Parts) > 0 {
		m.Parts[len(m.Parts)-1].Cache = fields.ReadCache(f.cache)
	}
	return err
}

func (f *turn) field(name []byte) *[]byte {
	switch string(name) {
	case "role":
		return &f.role
	case "name":
		return &f.name
	case "content":
		return &f.content
	case "content_blocks":
		return &f.blocks
	case "tool_calls":
		return &f.calls
	case "function_call":
		return &f.function
	case "tool_call_id":
		return &f.callID
	case "refusal":
		return &f.refusal
	case "reasoning_content", "reasoning":
		return &f.reasoning
	case "reasoning_details":
		return &f.details
	case "cache_control":
		return &f.cache
	}
	return nil
}

// reasoningParts returns the reasoning of a message that is outside its content: the parts of
// OpenRouter's reasoning_details, and the plain reasoning text. If the details contain text, the
// plain text is skipped because it repeats them.
func (f *turn) reasoningParts() []llm.Part {
	parts, worded := readDetails(f.details)
	if text, _ := jsonedit.Unquote(f.reasoning); text != "" && !worded {
		parts = slices.Insert(parts, 0, llm.Part{Kind: llm.ReasoningPart, Index: -1, Text: text})
	}
	return parts
}

// readContent reads the content in a field of a message, usually a plain string.
func readContent(m *llm.Message, raw []byte, field string) ([]llm.Part, error) {
	if parts, ok := fields.PlainContent(raw); ok {
		return parts, nil
	}
	return fields.ReadContent(raw, messageFieldPath(m, field), readPart)
}

// assistant reads an earlier message of the model. If the caller sends content_blocks back, they
// replace the content: they contain the reasoning with its signatures.
func (r *callReader) assistant(m *llm.Message, f *turn) (err error) {
	content, field := f.content, "content"
	if f.blocks != nil {
		content, field = f.blocks, "content_blocks"
	}
	if m.Parts, err = readContent(m, content, field); err != nil {
		return err
	}
	if f.blocks == nil {
		m.Parts = append(f.reasoningParts(), m.Parts...)
	}
	if text, ok := jsonedit.Unquote(f.refusal); ok && text != "" {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.RefusalPart, Index: -1, Text: text})
	}
	k := 0
	for val := range jsonedit.Elements(f.calls) {
		p, err := readCall(val, func(field string) string {
			return messageFieldPath(m, fields.ElementPath("tool_calls", k)) + "." + field
		})
		if err != nil {
			return err
		}
		if r.names == nil {
			r.names = map[string]string{}
		}
		r.names[p.Call.ID] = p.Call.Name
		m.Parts = append(m.Parts, p)
		k++
	}
	if f.function != nil {
		return r.functionCalled(m, f.function)
	}
	return nil
}

// readCall reads a tool call. path returns the path of one of its fields in the caller's body.
func readCall(raw []byte, path func(field string) string) (llm.Part, error) {
	p := llm.Part{Kind: llm.CallPart, Index: -1, Call: &llm.ToolCall{}}
	var fn []byte
	args := "arguments"
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"id"`:
			p.Call.ID, _ = jsonedit.Unquote(val)
		case `"function"`:
			fn = val
		case `"custom"`:
			fn, args, p.Call.Custom = val, "input", true
		case `"cache_control"`:
			p.Cache = fields.ReadCache(val)
		case `"extra_content"`, `"index"`, `"type"`:
		}
	}
	if err := readCalled(&p, fn, args, func(field string) string { return path("function." + field) }); err != nil {
		return p, err
	}
	if p.Call.ID == "" {
		return p, fields.Invalid(path("id"), "is required")
	}
	return p, nil
}

// readCalled reads the name of the called tool and its arguments from fn. args is the name of the
// member with the arguments.
func readCalled(p *llm.Part, fn []byte, args string, path func(field string) string) error {
	r := jsonedit.NewReader(fn)
	for name := range r.Members() {
		val := r.Raw()
		switch string(name) {
		case "name":
			p.Call.Name, _ = jsonedit.Unquote(val)
		case args:
			text, ok := jsonedit.Unquote(val)
			if !ok && !jsonedit.IsNull(val) {
				return fields.Invalid(path("arguments"), "must be a JSON string")
			}
			p.Call.Arguments = text
		case "thought_signature":
			p.Signature, _ = jsonedit.Unquote(val)
		}
	}
	if p.Call.Name == "" {
		return fields.Invalid(path("name"), "is required")
	}
	return nil
}

// result reads the result of a tool call.
func (r *callReader) result(m *llm.Message, f *turn) error {
	parts, err := readContent(m, f.content, "content")
	if err != nil {
		return err
	}
	res := &llm.ToolResult{Name: m.Name, Parts: parts}
	if res.ID, _ = jsonedit.Unquote(f.callID); m.Role == llm.RoleTool {
		name, known := r.names[res.ID]
		switch {
		case res.ID == "":
			return fields.Invalid(messageFieldPath(m, "tool_call_id"), "is required")
		case !known:
			return fields.Invalid(messageFieldPath(m, "tool_call_id"), "must match a tool call of an earlier message")
		case res.Name == "":
			res.Name = name
		}
	} else {
		res.ID = r.called[m.Name]
	}
	m.Role, m.Name = llm.RoleTool, ""
	m.Parts = []llm.Part{{Kind: llm.ResultPart, Index: -1, Result: res}}
	return nil
}

// readPart reads one content part. A part of another type is stored unchanged as an OpaquePart,
// for dialects that support it.
func readPart(raw []byte, path string) (p llm.Part, err error) {
	if text, ok := jsonedit.Unquote(raw); ok { // some clients send bare strings
		return llm.Part{Kind: llm.TextPart, Text: text}, nil
	}
	if raw[0] != '{' {
		return p, fields.Invalid(path, "must be an object")
	}
	typ, _ := jsonedit.Find(raw, "type")
	kind := intern(typ)
	switch kind {
	case "text", "input_text", "output_text":
		err = textPart(&p, raw, path)
	case "refusal":
		p.Kind = llm.RefusalPart
		p.Text = jsonedit.Text(raw, "refusal")
	case "thinking":
		p.Kind, p.Signature = llm.ReasoningPart, jsonedit.Text(raw, "signature")
		p.Text, _ = conversation.ThinkingText(raw) // callers of Mistral send a list
	case "redacted_thinking":
		p.Kind, p.Text = llm.SealedPart, jsonedit.Text(raw, "data")
	case "image_url":
		err = imagePart(&p, raw, path)
	case "input_audio":
		err = audioPart(&p, raw, path)
	case "file":
		err = filePart(&p, raw, path)
	case "":
		return p, fields.Invalid(path+".type", "is required")
	default:
		p.Kind, p.Raw, p.Shape = llm.OpaquePart, raw, shapeName
	}
	if cache, ok := jsonedit.Find(raw, "cache_control"); ok {
		p.Cache = fields.ReadCache(cache)
	}
	return p, err
}

func textPart(p *llm.Part, raw []byte, path string) (err error) {
	p.Kind = llm.TextPart
	val, _ := jsonedit.Find(raw, "text")
	p.Text, err = fields.String(val, path+".text")
	p.EmbeddedSignature = jsonedit.Text(raw, "signature") // only in content_blocks
	if c, ok := jsonedit.Find(raw, "citations"); ok && c[0] == '[' {
		p.Citations, p.Shape = c, shapeName
	}
	return err
}
