package dialect

import (
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// coreDepth is how deep a block of a tool result is searched for its text.
const coreDepth = 8

// maxCoreJSONBytes is how many bytes a block without any text may have that is sent as JSON text.
const maxCoreJSONBytes = 64 << 10

// coreMembers are the members of blocks that hold text, or more blocks, of every shape that is
// known: {"type":"search_result","source":"https://…","title":"T","content":[{"type":"text","text":"…"}]},
// {"type":"tool_reference","tool_name":"get_weather"}.
// Source: https://platform.claude.com/docs/en/build-with-claude/search-results and
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool, read 2026-11.
var coreMembers = map[string]bool{
	"title": true, "source": true, "url": true, "uri": true, "tool_name": true, "name": true, "text": true, "content": true,
	"output": true, "result": true, "results": true, "message": true, "error": true, "document": true, "resource": true, "json": true,
	"tool_references": true, "stdout": true, "stderr": true, "refusal": true, "transcript": true,
}

// ResultPart is a part of a tool result as a provider takes that has blocks of the given shape: a
// block that means something to another shape alone becomes its text, and is named as lost at
// the path of the result, the part of m with that index, because its form is. It returns other parts as they are; false for a
// block without text that is too long to send as JSON.
func ResultPart(t *llm.FieldTracker, c *llm.Call, m *llm.Message, result int, shape string, p *llm.Part) (*llm.Part, bool) {
	if p.Kind != llm.OpaquePart || p.Shape == shape {
		return p, true
	}
	text := TextCore(p.Raw)
	if text == "" {
		return p, false
	}
	t.Drop(c.Path(m, result))
	return &llm.Part{Kind: llm.TextPart, Index: p.Index, Text: text, Cache: p.Cache}, true
}

// TextCore is the text of a block of no known type, one line for each of its texts, and the JSON
// of one that has none; empty for such a block of more than 64 KiB.
func TextCore(raw []byte) string {
	var lines []string
	gatherCore(raw, coreDepth, &lines)
	switch {
	case len(lines) > 0:
		return strings.Join(lines, "\n")
	case len(raw) > maxCoreJSONBytes:
		return ""
	}
	return string(raw)
}

// gatherCore appends the texts of a value: of a string, of the elements of a list, and of the
// members of an object that hold text.
func gatherCore(raw []byte, depth int, lines *[]string) {
	if depth == 0 || len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '"':
		if text, ok := splice.Unquote(raw); ok && !IsBlank(text) {
			*lines = append(*lines, text)
		}
	case '[':
		for val := range splice.Elements(raw) {
			gatherCore(val, depth-1, lines)
		}
	case '{':
		for name, val := range splice.Members(raw) {
			if n, _ := splice.Unquote(name); coreMembers[n] {
				gatherCore(val, depth-1, lines)
			}
		}
	}
}
