package dialect

import (
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// manyTools is beyond how many tools their names are looked up and not compared.
const manyTools = 32

// CheckTools refuses with fault.InvalidParameter, once the whole call is read, two tools
// of one name, of which a model could not say which it calls, and the wish for a tool
// that is not there. Where providers run tools of the call, whose names may be their own,
// any tool may be wished for.
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
			return InvalidField(toolName(c, t), "must be unique; an earlier tool has this name")
		}
		declared = declared || t.Name == c.Choice.Name
		foreign = foreign || t.Type != llm.Function && t.Type != llm.Custom
	}
	if c.Choice.Mode == "tool" && !declared && !foreign {
		return InvalidField(NestedPath(c, c.Choice.From, "function")+".name", "must be the name of a tool in this call")
	}
	return nil
}

// Served refuses with fault.InvalidParameter, naming the first, a call of which something is
// unserved.
func Served(c *llm.Call) error {
	if len(c.Unserved) == 0 {
		return nil
	}
	u := &c.Unserved[0]
	return InvalidField(u.From+".type", "is "+string(splice.Quote(u.Type))+", "+u.Why)
}

// twice reports whether a tool before has the name, and notes it in seen where there is one.
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

// toolName is where the name of a tool stands: tools[1].function.name.
func toolName(c *llm.Call, t *llm.Tool) string {
	path := ElementPath("tools", t.Index)
	if t.Type == llm.Function {
		path = NestedPath(c, path, "function")
	}
	return path + ".name"
}
