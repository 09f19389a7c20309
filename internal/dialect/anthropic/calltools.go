package anthropic

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

func (r *callReader) tools(raw []byte) error {
	for val := range jsonedit.Elements(raw) {
		t, err := readTool(val, len(r.c.Tools))
		if err != nil {
			return err
		}
		r.c.Tools = append(r.c.Tools, t)
	}
	return nil
}

// readTool reads a tool that the caller runs, which has no type or "custom", or a tool that
// Anthropic defines: {"type":"web_search_20250305","name":"web_search"}.
func readTool(raw []byte, i int) (t llm.Tool, err error) {
	path := fields.ElementPath("tools", i)
	t = llm.Tool{Index: i, Raw: raw, Shape: shapeName, Type: llm.Function}
	if typ := jsonedit.Text(raw, "type"); typ != "" && typ != llm.Custom {
		t.Type, t.Name = typ, jsonedit.Text(raw, "name")
		return t, nil
	}
	for key, val := range jsonedit.Members(raw) {
		if jsonedit.IsNull(val) {
			continue
		}
		name := plainName(key)
		if err = toolMembers.Check(name, path, val); err != nil {
			return t, err
		}
		switch name {
		case "type":
		case "name":
			t.Name, _ = jsonedit.Unquote(val)
		case "description":
			t.Description, _ = jsonedit.Unquote(val)
		case "input_schema":
			t.Schema = val
		case "strict":
			t.Strict = fields.ParseBool(val)
		case "cache_control":
			t.Cache = fields.ReadCache(val)
		default:
			t.Extra = append(t.Extra, llm.Param{Name: name, From: path + "." + name, Raw: val})
		}
	}
	if t.Name == "" {
		return t, fields.Invalid(path+".name", "is required")
	}
	return t, nil
}

// modes maps Anthropic's tool choices to the hub's.
var modes = map[string]string{"auto": "auto", "any": "required", "none": "none", "tool": "tool"}

// choice reads {"type":"tool","name":"x","disable_parallel_tool_use":true}.
func (r *callReader) choice(raw []byte) error {
	c := llm.ToolChoice{From: "tool_choice", Raw: raw, Mode: modes[jsonedit.Text(raw, "type")], Name: jsonedit.Text(raw, "name")}
	switch {
	case c.Mode == "":
		return fields.Invalid("tool_choice.type", `must be "auto", "any", "tool" or "none"`)
	case c.Mode == "tool" && c.Name == "":
		return fields.Invalid("tool_choice.name", "is required")
	}
	r.c.Choice = c
	const key = "disable_parallel_tool_use"
	switch raw, _ := jsonedit.Find(raw, key); string(raw) {
	case "true":
		r.param(llm.ParallelToolCalls, "tool_choice."+key, []byte("false"))
	case "false":
		r.param(llm.ParallelToolCalls, "tool_choice."+key, []byte("true"))
	}
	return nil
}
