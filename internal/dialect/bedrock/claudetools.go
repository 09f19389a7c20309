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

// claudeTools are the tools of a message as Bedrock takes them, and whether one of them asks
// for its arguments eagerly.
func claudeTools(tools []byte) (list []byte, eager bool) {
	if !bytes.Contains(tools, []byte(eagerMember)) || tools[0] != '[' {
		return tools, false
	}
	var w dialect.JSON
	w.Open('[')
	for tool := range splice.Elements(tools) {
		if tool[0] != '{' {
			w.Value(tool)
			continue
		}
		w.Open('{')
		for name, val := range splice.Members(tool) {
			if plain(name) == eagerMember {
				eager = eager || string(val) == "true"
				continue
			}
			w.Raw(bare(name), val)
		}
		w.Close('}')
	}
	w.Close(']')
	return w.B, eager
}

// withFlag is a list of beta flags with one more, unless it is there.
func withFlag(list []string, flag string) []string {
	if slices.Contains(list, flag) {
		return list
	}
	return append(list, flag)
}
