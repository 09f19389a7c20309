package check

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Limits of the search for JSON in a text.
const (
	maxJSONText       = 1 << 20 // bytes of the text that are searched
	maxJSONCandidates = 32      // values that are compared
	maxJSONAttempts   = 64      // brackets at which a value may begin
	maxJSONDepth      = 64
)

// jsonCandidates returns the JSON values in a text: those in fenced blocks if there are any, else the
// complete text, else the objects and lists between other text.
func jsonCandidates(text string) []string {
	text = text[:min(len(text), maxJSONText)]
	var found []string
	for _, block := range fencedBlocks(text) {
		if body := strings.TrimSpace(block.body); len(found) < maxJSONCandidates && isJSON(body) {
			found = append(found, body)
		}
	}
	if len(found) > 0 {
		return found
	}
	if complete := strings.TrimSpace(text); isJSON(complete) {
		return []string{complete}
	}
	return jsonSpans(text)
}

// jsonSpans returns the objects and lists between other text.
func jsonSpans(text string) (found []string) {
	for attempt := 0; attempt < maxJSONAttempts && len(found) < maxJSONCandidates; attempt++ {
		start := strings.IndexAny(text, "{[")
		if start < 0 {
			return found
		}
		text = text[start:]
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil || !isJSON(string(raw)) {
			text = text[1:]
			continue
		}
		found = append(found, string(raw))
		text = text[len(raw):]
	}
	return found
}

// isJSON reports whether a text is one JSON value of bounded depth.
func isJSON(s string) bool {
	return s != "" && depth(s) <= maxJSONDepth && json.Valid([]byte(s))
}

// depth returns the nesting depth of a JSON value.
func depth(s string) int {
	level, deepest, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// decodeJSON decodes a value; numbers are json.Number. The value is valid JSON.
func decodeJSON(s string) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// fencedBlock is a block of Markdown between lines of three or more backticks or tildes.
type fencedBlock struct {
	tag  string // first field after the opening fence, in lower case: "python"; empty without one
	body string
}

// maxFencedBlocks is the number of blocks of a text that are read.
const maxFencedBlocks = 256

// fencedBlocks returns the fenced blocks of a text. The last one may lack its closing fence.
// Source: CommonMark 0.31, section 4.5.
func fencedBlocks(text string) (blocks []fencedBlock) {
	for len(blocks) < maxFencedBlocks {
		start, fence := findFence(text, "")
		if start < 0 {
			return blocks
		}
		info, rest, _ := strings.Cut(text[start+len(fence):], "\n")
		fields := strings.FieldsFunc(info, func(r rune) bool { return strings.ContainsRune(" \t\r{}:,", r) })
		block := fencedBlock{body: rest}
		if len(fields) > 0 {
			block.tag = strings.ToLower(fields[0])
		}
		text = ""
		if inline, after, closed := strings.Cut(info, fence); closed { // ```json {"a":1}```
			_, block.body, _ = strings.Cut(strings.TrimSpace(inline), " ")
			text = after + "\n" + rest
		} else if end, closing := findFence(rest, fence); end >= 0 {
			block.body, text = rest[:end], rest[end+len(closing):]
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// findFence returns the offset of the next fence at the start of a line, and the fence. With opening,
// the fence must close it.
func findFence(text, opening string) (offset int, fence string) {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		trimmed := strings.TrimLeft(line, " \t>")
		if n := fenceLength(trimmed); n >= max(3, len(opening)) && (opening == "" || trimmed[0] == opening[0] && strings.TrimSpace(trimmed[n:]) == "") {
			return at + len(line) - len(trimmed), trimmed[:n]
		}
		at += len(line) + 1
	}
	return -1, ""
}

func fenceLength(line string) int {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return 0
	}
	return len(line) - len(strings.TrimLeft(line, line[:1]))
}
