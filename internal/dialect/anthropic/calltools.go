package anthropic

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

func (r *callReader) tools(raw []byte) error {
	if !isList(raw) {
		return refuse("tools", "must be a list")
	}
	for val := range splice.Elements(raw) {
		t, err := readTool(val, len(r.c.Tools))
		if err != nil {
			return err
		}
		r.c.Tools = append(r.c.Tools, t)
	}
	return nil
}

// readTool reads a tool that the caller runs, which has no type or "custom", or one
// that Anthropic has defined: {"type":"web_search_20250305","name":"web_search"}.
func readTool(raw []byte, i int) (t llm.Tool, err error) {
	at := place("tools", i)
	t = llm.Tool{Index: i, Raw: raw, Shape: shapeName, Type: llm.Function}
	if !isObject(raw) {
		return t, refuse(at, "must be an object")
	}
	if typ := member(raw, "type"); typ != "" && typ != "custom" {
		t.Type, t.Name = typ, member(raw, "name")
		return t, nil
	}
	for key, val := range splice.Members(raw) {
		if isNull(val) {
			continue
		}
		switch name := plainName(key); name {
		case "type":
		case "name":
			t.Name, err = str(val, at+".name")
		case "description":
			t.Description, err = str(val, at+".description")
		case "input_schema":
			if t.Schema = val; !isObject(val) {
				err = refuse(at+".input_schema", "must be a JSON schema, an object")
			}
		case "strict":
			strict := string(val) == "true"
			t.Strict = &strict
		case "cache_control":
			t.Cache = readCache(val)
		default:
			t.Extra = append(t.Extra, llm.Param{Name: name, From: at + "." + name, Raw: val})
		}
		if err != nil {
			return t, err
		}
	}
	if t.Name == "" {
		return t, refuse(at+".name", "is missing")
	}
	return t, nil
}

// modes are the hub's words for the choice of a tool.
var modes = map[string]string{"auto": "auto", "any": "required", "none": "none", "tool": "tool"}

// choice reads {"type":"tool","name":"x","disable_parallel_tool_use":true}.
func (r *callReader) choice(raw []byte) error {
	c := llm.ToolChoice{From: "tool_choice", Raw: raw, Mode: modes[member(raw, "type")], Name: member(raw, "name")}
	switch {
	case !isObject(raw):
		return refuse("tool_choice", `must be an object, for example {"type":"auto"}`)
	case c.Mode == "":
		c.Mode = "opaque"
	case c.Mode == "tool" && c.Name == "":
		return refuse("tool_choice.name", "is missing")
	}
	r.c.Choice = c
	const key = "disable_parallel_tool_use"
	switch raw, _ := splice.Find(raw, key); string(raw) {
	case "true":
		r.param(llm.ParallelToolCalls, "tool_choice."+key, []byte("false"))
	case "false":
		r.param(llm.ParallelToolCalls, "tool_choice."+key, []byte("true"))
	}
	return nil
}

// readCache reads {"type":"ephemeral","ttl":"1h"}.
func readCache(raw []byte) *llm.Cache {
	if !isObject(raw) {
		return nil
	}
	return &llm.Cache{TTL: member(raw, "ttl")}
}
