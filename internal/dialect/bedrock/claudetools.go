package bedrock

import (
	"bytes"
	"slices"

	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// eagerMember requests the arguments of a tool while the model writes them. Amazon rejects the
// member, even with the flag. On Amazon, only eagerFlag enables this, for all tools of a call.
// Source: live calls of InvokeModel in https://github.com/vercel/ai/pull/17179, read 2026-11.
const (
	eagerMember = "eager_input_streaming"
	eagerFlag   = "fine-grained-tool-streaming-2025-05-14"
)

// strictMember requires the model to follow the schema of a tool. Claude on Bedrock rejects the
// member from version 4.7 on, with any value.
// Source: https://github.com/BerriAI/litellm/pull/31585, read 2026-11.
const strictMember = "strict"

// toolList contains the tools of a message in the format that Claude on Bedrock accepts.
type toolList struct {
	raw     []byte
	eager   bool     // a tool requests eager arguments
	dropped []string // paths of unsupported members: "tools[0].strict"
}

func claudeTools(tools []byte, model string) toolList {
	lax := claude.ParseModel(model).Since(4, 7) && bytes.Contains(tools, []byte(strictMember))
	if tools[0] != '[' || !lax && !bytes.Contains(tools, []byte(eagerMember)) {
		return toolList{raw: tools}
	}
	var l toolList
	var w jsonwriter.Writer
	w.Open('[')
	i := 0
	for tool := range jsonedit.Elements(tools) {
		if tool[0] == '{' {
			l.tool(&w, tool, fields.ElementPath("tools", i), lax)
		} else {
			w.Value(tool)
		}
		i++
	}
	w.Close(']')
	l.raw = w.B
	return l
}

func (l *toolList) tool(w *jsonwriter.Writer, tool []byte, path string, lax bool) {
	w.Open('{')
	for name, val := range jsonedit.Members(tool) {
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

// withFlag returns a list of beta flags that includes flag.
func withFlag(list []string, flag string) []string {
	if slices.Contains(list, flag) {
		return list
	}
	return append(list, flag)
}
