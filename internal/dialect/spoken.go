package dialect

import (
	"bytes"
	"strings"

	"sluice/internal/splice"
)

// Spoken gathers the words that the events of a stream brought: what was said, thought
// and put into calls. It is for counting what a provider did not count; one that is cut at
// the end is left out. Events that repeat what others brought, such as response.completed, count
// nothing.
func Spoken(events []byte) string {
	var words strings.Builder
	for line := range bytes.SplitSeq(events, []byte("\n")) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if !ok {
			continue
		}
		data = bytes.TrimSpace(data)
		if typ := splice.Text(data, "type"); typ == "" || strings.HasSuffix(typ, "delta") {
			spoken(&words, data, 0)
		}
	}
	return words.String()
}

// spokenMost is how deep words stand at most: choices, delta, tool_calls, function.
const spokenMost = 10

// spokenNames are the members that hold words, in the events of all surfaces.
var spokenNames = [...]string{"content", "text", "delta", "reasoning_content", "reasoning", "thinking", "refusal", "partial_json", "arguments", "name", "transcript"}

// repeats reports whether a member of an object says what another of it says: some servers have
// thoughts under several names, Perplexity the answer so far beside each piece, and callers of
// chat who are not strict get texts in content_blocks, too.
func repeats(object, name []byte) bool {
	says := func(other string) bool { return splice.Text(object, other) != "" }
	switch string(name) {
	case `"message"`:
		_, pieced := splice.Find(object, "delta")
		return pieced
	case `"content_blocks"`:
		return says("content")
	case `"reasoning"`:
		return says("reasoning_content")
	case `"reasoning_details"`:
		return says("reasoning_content") || says("reasoning")
	}
	return false
}

func spoken(words *strings.Builder, raw []byte, depth int) {
	if len(raw) == 0 || depth > spokenMost {
		return
	}
	switch raw[0] {
	case '[':
		for el := range splice.Elements(raw) {
			spoken(words, el, depth+1)
		}
	case '{':
		for name, val := range splice.Members(raw) {
			if len(val) == 0 || repeats(raw, name) {
				continue
			}
			if val[0] != '"' {
				spoken(words, val, depth+1)
				continue
			}
			for _, n := range spokenNames {
				if splice.IsName(name, n) {
					s, _ := splice.Unquote(val)
					words.WriteString(s)
				}
			}
		}
	}
}
