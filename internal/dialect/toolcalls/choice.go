package toolcalls

import (
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// ReadToolChoice reads a tool choice in OpenAI's shapes: "auto", "none", "required",
// {"type":"function",…}, or an object of type custom or allowed_tools, which is relayed unchanged.
// Name is the path of the function's name in it: "function", "name" in a chat. An invalid choice
// is fault.InvalidParameter, which names the field.
// Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11.
func ReadToolChoice(raw []byte, name ...string) (llm.ToolChoice, error) {
	c := llm.ToolChoice{From: "tool_choice", Raw: raw}
	if mode, ok := jsonedit.Unquote(raw); ok {
		switch mode {
		case "auto", "none", "required":
			c.Mode = mode
			return c, nil
		}
		return c, fields.Invalid("tool_choice", `must be "auto", "none", "required" or an object that names a function`)
	}
	switch jsonedit.Text(raw, "type") {
	case llm.Function:
		c.Mode = "tool"
		if c.Name = jsonedit.Text(raw, name...); c.Name == "" {
			return c, fields.Invalid("tool_choice."+strings.Join(name, "."), "is required")
		}
	case llm.Custom, "allowed_tools":
		c.Mode = "opaque"
	default:
		return c, fields.Invalid("tool_choice.type", `must be "function", "custom" or "allowed_tools" for a provider that does not use this format`)
	}
	return c, nil
}

// schemaMembers are the members of the object that contains a named schema.
var schemaMembers = fields.Members{"type": fields.IsString, "name": fields.IsString, "description": fields.IsString, "schema": fields.IsSchema, "strict": fields.IsBool}

// ReadSchema reads {"name":"x","schema":{…},"strict":true}, a response format with a schema,
// into f. Path is its path in the body; errors are fault.InvalidParameter.
// Source: https://platform.openai.com/docs/api-reference/chat/create, read 2026-11.
func ReadSchema(f *llm.Format, raw []byte, path string) error {
	for name, val := range jsonedit.Members(raw) {
		n, _ := jsonedit.Unquote(name)
		if err := schemaMembers.Check(n, path, val); err != nil {
			return err
		}
		switch n {
		case "name":
			f.Name, _ = jsonedit.Unquote(val)
		case "description":
			f.Description, _ = jsonedit.Unquote(val)
		case "schema":
			f.Schema = val
		case "strict":
			f.Strict = fields.ParseBool(val)
		}
	}
	if len(f.Schema) == 0 || f.Schema[0] != '{' {
		return fields.Invalid(path+".schema", "must be a JSON schema, an object")
	}
	return nil
}
