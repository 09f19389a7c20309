package tokens

import (
	"bytes"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// EventText collects the text in the events of a stream: output, reasoning and tool calls. It
// is used to count what a provider did not count. An event that is cut at the end is omitted.
// Events that repeat others, such as response.completed, count nothing.
func EventText(events []byte) string {
	var out strings.Builder
	for line := range bytes.SplitSeq(events, []byte("\n")) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if !ok {
			continue
		}
		data = bytes.TrimSpace(data)
		if typ := jsonedit.Text(data, "type"); typ == "" || strings.HasSuffix(typ, "delta") {
			appendText(&out, data, 0)
		}
	}
	return out.String()
}

// maxTextDepth is the maximum depth of text: choices, delta, tool_calls, function.
const maxTextDepth = 10

// textMembers are the members that contain text, in the events of all formats.
var textMembers = names("content text delta reasoning_content reasoning thinking refusal partial_json arguments name transcript")

func appendText(out *strings.Builder, raw []byte, depth int) {
	if len(raw) == 0 || depth > maxTextDepth {
		return
	}
	switch raw[0] {
	case '[':
		for el := range jsonedit.Elements(raw) {
			appendText(out, el, depth+1)
		}
	case '{':
		_, pieced := jsonedit.Find(raw, "delta")
		for name, val := range jsonedit.Members(raw) {
			key, _ := jsonedit.Unquote(name)
			switch {
			case len(val) == 0, repeats(raw, key):
			case pieced && key == "message": // Perplexity repeats the response so far with each chunk
			case val[0] != '"':
				appendText(out, val, depth+1)
			case textMembers[key]:
				s, _ := jsonedit.Unquote(val)
				out.WriteString(s)
			}
		}
	}
}
