package bedrock

import (
	"bytes"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/splice"
)

// eagerMember asks for the arguments of a tool as the model writes them. Amazon refuses it,
// with the flag too, and has the flag alone for all tools of a call.
// Source: live calls of InvokeModel in https://github.com/vercel/ai/pull/17179, read 2026-11.
const (
	eagerMember = "eager_input_streaming"
	eagerFlag   = "fine-grained-tool-streaming-2025-05-14"
)

// strictMember says that the model must keep to the schema of a tool. Claude on Bedrock refuses
// it from 4.7 on, whatever it says.
// Source: https://github.com/BerriAI/litellm/pull/31585, read 2026-11.
const strictMember = "strict"

// toolList are the tools of a message as Claude on Bedrock takes them.
type toolList struct {
	raw     []byte
	eager   bool     // one of them asks for its arguments eagerly
	dropped []string // what they cannot say there: "tools[0].strict"
}

func claudeTools(tools []byte, model string) toolList {
	lax := dialect.ClaudeOf(model).Since(4, 7) && bytes.Contains(tools, []byte(strictMember))
	if tools[0] != '[' || !lax && !bytes.Contains(tools, []byte(eagerMember)) {
		return toolList{raw: tools}
	}
	var l toolList
	var w dialect.JSON
	w.Open('[')
	i := 0
	for tool := range splice.Elements(tools) {
		if tool[0] == '{' {
			l.tool(&w, tool, dialect.ElementPath("tools", i), lax)
		} else {
			w.Value(tool)
		}
		i++
	}
	w.Close(']')
	l.raw = w.B
	return l
}

func (l *toolList) tool(w *dialect.JSON, tool []byte, path string, lax bool) {
	w.Open('{')
	for name, val := range splice.Members(tool) {
		enabled := string(val) == "true"
		switch n := plain(name); {
		case n == eagerMember:
			l.eager = l.eager || enabled
		case n == strictMember && lax:
			if enabled {
				l.dropped = append(l.dropped, path+"."+strictMember)
			}
		default:
			w.Raw(bare(name), val)
		}
	}
	w.Close('}')
}

// withFlag is a list of beta flags with one more, unless it is there.
func withFlag(list []string, flag string) []string {
	if slices.Contains(list, flag) {
		return list
	}
	return append(list, flag)
}
