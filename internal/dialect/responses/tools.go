package responses

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func (r *callReader) tools(raw []byte) error {
	i := 0
	for val := range jsonedit.Elements(raw) {
		read := r.tool
		if jsonedit.Text(val, "type") == "namespace" {
			read = r.namespace
		}
		if err := read(llm.Tool{Index: i, Raw: val}, fields.ElementPath("tools", i)); err != nil {
			return err
		}
		i++
	}
	return nil
}

// namespace reads {"type":"namespace","name":"crm","description":"…","tools":[…]}, a group of
// tools that the caller runs. In other shapes they are separate tools, with the name of the
// group before theirs. The description of the group is not supported there.
// Source: https://developers.openai.com/api/docs/guides/tools-tool-search, read 2026-11.
func (r *callReader) namespace(t llm.Tool, path string) error {
	t.Namespace = &llm.Namespace{Name: jsonedit.Text(t.Raw, "name"), Raw: t.Raw}
	if t.Namespace.Name == "" {
		return fields.Invalid(path+".name", "is required")
	}
	list, _ := jsonedit.Find(t.Raw, "tools")
	if len(list) == 0 || list[0] != '[' {
		return fields.Invalid(path+".tools", "must be a list")
	}
	i := 0
	for val := range jsonedit.Elements(list) {
		t.Raw = val
		if err := r.tool(t, fields.ElementPath(path+".tools", i)); err != nil {
			return err
		}
		i++
	}
	return nil
}

// chooseSpaced finds the tool of a namespace that the caller wishes for, which has a longer
// name here. Of two that have the same name, the first is as good as the other.
func (r *callReader) chooseSpaced() {
	c := &r.c.Choice
	if c.Mode != "tool" || r.c.Tool(c.Name) != nil {
		return
	}
	for i := range r.c.Tools {
		if t := &r.c.Tools[i]; t.Namespace != nil && t.Namespace.Split(t.Name) == c.Name {
			c.Name = t.Name
			return
		}
	}
}

// tool reads a tool into t, which has its Raw and where it stands.
func (r *callReader) tool(t llm.Tool, path string) error {
	t.Type, t.Shape = jsonedit.Text(t.Raw, "type"), shapeName
	switch t.Type {
	case "":
		return fields.Invalid(path+".type", `is required; use "function" for tools that you run yourself`)
	case llm.Function, llm.Custom:
	default:
		r.unserved(path, t.Type, `a tool that requires a provider with native responses support; other providers support "function", "custom" and "namespace"`)
		return nil
	}
	if err := readTool(&t, path); err != nil {
		return err
	}
	if t.Namespace != nil {
		t.Name = t.Namespace.Join(t.Name)
	}
	r.c.Tools = append(r.c.Tools, t)
	return nil
}

// unserved records tools of a kind that other shapes do not have.
func (r *callReader) unserved(path, kind, why string) {
	r.c.Unserved = append(r.c.Unserved, llm.Unserved{From: path, Type: kind, Why: why})
}

func readTool(t *llm.Tool, path string) error {
	var format []byte
	for name, val := range jsonedit.Members(t.Raw) {
		if jsonedit.IsNull(val) {
			continue
		}
		n := plainName(name)
		if err := toolMembers.Check(n, path, val); err != nil {
			return err
		}
		switch n {
		case "type":
		case "name":
			t.Name, _ = jsonedit.Unquote(val)
		case "description":
			t.Description, _ = jsonedit.Unquote(val)
		case "parameters":
			t.Schema = val
		case "strict":
			t.Strict = fields.ParseBool(val)
		case "cache_control":
			t.Cache = fields.ReadCache(val)
		case "format":
			format = val
		default:
			t.Extra = extra(t.Extra, n, path, val)
		}
	}
	if t.Name == "" {
		return fields.Invalid(path+".name", "is required")
	}
	if t.Type == llm.Custom {
		t.Raw, t.Shape = chatTool(t, format), chatShape
	}
	return nil
}

// chatTool is a custom tool in the form of chat completions, the only other shape that
// has such tools:
// {"type":"custom","custom":{"name":"x","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"…"}}}}.
// Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11.
func chatTool(t *llm.Tool, format []byte) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", llm.Custom)
	w.Key(llm.Custom).Open('{')
	w.Str("name", t.Name)
	w.Opt("description", t.Description)
	if kind := jsonedit.Text(format, "type"); kind == "grammar" {
		w.Key("format").Open('{')
		w.Str("type", kind)
		w.Key(kind).Open('{')
		for _, name := range [...]string{"syntax", "definition"} {
			val, _ := jsonedit.Find(format, name)
			w.Raw(name, val)
		}
		w.Close('}')
		w.Close('}')
	} else {
		w.Raw("format", format)
	}
	w.Close('}')
	w.Close('}')
	return w.B
}

// flatFormat is the format of a custom tool of chat completions in the form of this
// shape, nil when it has none.
func flatFormat(t *llm.Tool) []byte {
	format, _ := jsonedit.Find(t.Raw, llm.Custom, "format")
	inner, ok := jsonedit.Find(format, "grammar")
	if !ok {
		return format
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", "grammar")
	for name, val := range jsonedit.Members(inner) {
		w.Raw(plainName(name), val)
	}
	w.Close('}')
	return w.B
}
