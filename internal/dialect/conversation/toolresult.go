package conversation

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// coreDepth is the maximum depth at which a tool result block is searched for text.
const coreDepth = 8

// maxCoreJSONBytes is the maximum size of a block without text that is sent as JSON text.
const maxCoreJSONBytes = 64 << 10

// coreMembers are the members of blocks that contain text or further blocks, for every known
// shape: {"type":"search_result","source":"https://…","title":"T","content":[{"type":"text","text":"…"}]},
// {"type":"tool_reference","tool_name":"get_weather"}.
// Source: https://platform.claude.com/docs/en/build-with-claude/search-results and
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool, read 2026-11.
var coreMembers = map[string]bool{
	"title": true, "source": true, "url": true, "uri": true, "tool_name": true, "name": true, "text": true, "content": true,
	"output": true, "result": true, "results": true, "message": true, "error": true, "document": true, "resource": true, "json": true,
	"tool_references": true, "stdout": true, "stderr": true, "refusal": true, "transcript": true,
}

// ResultPart converts a part of a tool result for a provider that supports blocks of the given
// shape. A block of another shape becomes its text. Because its format is dropped, it is reported
// as dropped at the path of the result, the part of m with that index. Other parts are returned
// unchanged. It returns false for a block without text that is too long to send as JSON.
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

// TextCore is the text of a block of unknown type, one line for each of its texts. A block without
// text becomes its JSON, or "" if that is longer than 64 KiB.
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
// members of an object that contain text.
func gatherCore(raw []byte, depth int, lines *[]string) {
	if depth == 0 || len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '"':
		if text, ok := jsonedit.Unquote(raw); ok && !IsBlank(text) {
			*lines = append(*lines, text)
		}
	case '[':
		for val := range jsonedit.Elements(raw) {
			gatherCore(val, depth-1, lines)
		}
	case '{':
		for name, val := range jsonedit.Members(raw) {
			if n, _ := jsonedit.Unquote(name); coreMembers[n] {
				gatherCore(val, depth-1, lines)
			}
		}
	}
}
