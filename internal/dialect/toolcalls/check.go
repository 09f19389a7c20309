package toolcalls

import (
	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// manyTools is the number of tools above which names are searched in a set instead of compared.
const manyTools = 32

// CheckTools rejects a completely read call with fault.InvalidParameter in two cases. Two tools have
// the same name, so that the model could not identify the one it calls. Or the call requires a
// tool that it does not have. If providers run tools of the call, which may have their own names,
// it may require any tool.
func CheckTools(c *llm.Call) error {
	var seen map[string]struct{}
	if len(c.Tools) > manyTools {
		seen = make(map[string]struct{}, len(c.Tools))
	}
	declared, foreign := false, false
	for i := range c.Tools {
		t := &c.Tools[i]
		if t.Name == "" {
			foreign = true
			continue
		}
		if twice(c.Tools[:i], t.Name, seen) {
			return fields.Invalid(toolName(c, t), "must be unique; an earlier tool has this name")
		}
		declared = declared || t.Name == c.Choice.Name
		foreign = foreign || t.Type != llm.Function && t.Type != llm.Custom
	}
	if c.Choice.Mode == "tool" && !declared && !foreign {
		return fields.Invalid(fields.NestedPath(c, c.Choice.From, "function")+".name", "must be the name of a tool in this call")
	}
	return nil
}

// Served rejects a call with unserved fields with fault.InvalidParameter, which names the first
// one.
func Served(c *llm.Call) error {
	if len(c.Unserved) == 0 {
		return nil
	}
	u := &c.Unserved[0]
	return fields.Invalid(u.From+".type", "is "+string(jsonedit.Quote(u.Type))+", "+u.Why)
}

// twice reports whether an earlier tool has the name, and adds the name to seen unless seen is nil.
func twice(before []llm.Tool, name string, seen map[string]struct{}) bool {
	if seen != nil {
		_, found := seen[name]
		seen[name] = struct{}{}
		return found
	}
	for i := range before {
		if before[i].Name == name {
			return true
		}
	}
	return false
}

// toolName is the path of a tool's name: tools[1].function.name.
func toolName(c *llm.Call, t *llm.Tool) string {
	path := fields.ElementPath("tools", t.Index)
	if t.Type == llm.Function {
		path = fields.NestedPath(c, path, "function")
	}
	return path + ".name"
}
