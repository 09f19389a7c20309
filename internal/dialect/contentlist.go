package dialect

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Mistral responds with a list where chat completions have a string:
// [{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hi"}].
// Source: https://docs.mistral.ai/inference/conversations/reasoning, read 2026-11.

// block is one element of content_blocks.
type block struct {
	kind llm.PartKind // TextPart or ThoughtPart
	text string
}

// name is the member that contains the text of the block.
func (b block) name() string {
	if b.kind == llm.ReasoningPart {
		return "thinking"
	}
	return "text"
}

// blocksOf reads a content, a string or a list. References to documents are neither text nor
// reasoning and are omitted.
func blocksOf(content []byte) (list []block, text string) {
	if s, ok := jsonedit.Unquote(content); ok {
		return []block{{llm.TextPart, s}}, s
	}
	var b strings.Builder
	for val := range jsonedit.Elements(content) {
		if s, ok := conversation.ThinkingText(val); ok {
			list = append(list, block{llm.ReasoningPart, s})
			continue
		}
		if s := jsonedit.Text(val, "text"); s != "" {
			list = append(list, block{llm.TextPart, s})
			b.WriteString(s)
		}
	}
	return list, b.String()
}

// blockCounts maps each choice of a stream to its current block.
type blockCounts map[string]*blockCount

type blockCount struct {
	index int
	kind  llm.PartKind
}

// flatten adds the edit that converts the lists in a response or an event to strings. Counts is
// nil except for the events of a stream.
func (r *ResponseRules) flatten(dst []jsonedit.Edit, body []byte, counts blockCounts) []jsonedit.Edit {
	if !r.ContentLists || !listed(body) && (len(counts) == 0 || !r.Blocks) {
		return dst
	}
	choices, _ := jsonedit.Find(body, "choices")
	if !jsonscan.IsList(choices) {
		return dst // do not add choices to a response without them
	}
	var w jsonwriter.Writer
	w.Open('[')
	for c := range jsonedit.Elements(choices) {
		w.Open('{')
		for name, val := range jsonedit.Members(c) {
			switch string(name) {
			case `"message"`:
				w.RawKey(name)
				r.message(&w, val)
			case `"delta"`:
				w.RawKey(name)
				r.delta(&w, val, c, counts)
			default:
				w.RawKey(name).Value(val)
			}
		}
		w.Close('}')
	}
	w.Close(']')
	return append(dst, jsonedit.Set("choices", w.B))
}

var contentKey = []byte(`"content"`)

// listed reports whether a content is a list.
func listed(body []byte) bool {
	for v := jsonscan.ValueAfter(body, contentKey); v != nil; v = jsonscan.ValueAfter(v, contentKey) {
		if len(v) > 0 && v[0] == '[' {
			return true
		}
	}
	return false
}

// message writes a message with a string instead of its list.
func (r *ResponseRules) message(w *jsonwriter.Writer, raw []byte) {
	r.content(w, raw, func(list []block) {
		w.Key("content_blocks").Open('[')
		for _, b := range list {
			w.Open('{')
			w.Str("type", b.name())
			w.Str(b.name(), b.text)
			w.Close('}')
		}
		w.Close(']')
	}, jsonscan.IsList)
}

// delta writes a delta of a message. From a choice's first list on, all its text is also written
// in blocks, so that their order is complete.
func (r *ResponseRules) delta(w *jsonwriter.Writer, raw, choice []byte, counts blockCounts) {
	index, _ := jsonedit.Find(choice, "index")
	n := counts[string(index)]
	r.content(w, raw, func(list []block) {
		w.Key("content_blocks").Open('[')
		for _, b := range list {
			w.Open('{')
			w.Int("index", int64(counts.next(string(index), b.kind)))
			w.Key("delta").Open('{')
			w.Str(b.name(), b.text)
			w.Close('}')
			w.Close('}')
		}
		w.Close(']')
	}, func(content []byte) bool {
		return jsonscan.IsList(content) || n != nil && len(content) > 2 && content[0] == '"'
	})
}

// maxChoices is the maximum number of choices that are counted. No provider returns more.
const maxChoices = 128

// next is the index of the block to which a delta of that kind belongs.
func (c blockCounts) next(choice string, kind llm.PartKind) int {
	n := c[choice]
	switch {
	case n == nil && len(c) >= maxChoices:
		return 0
	case n == nil:
		n = &blockCount{kind: kind}
		c[choice] = n
	case n.kind != kind:
		n.index, n.kind = n.index+1, kind
	}
	return n.index
}

// content writes the members of a message. If shouldFlatten accepts the content, it becomes a
// string, followed by the blocks.
func (r *ResponseRules) content(w *jsonwriter.Writer, raw []byte, blocks func([]block), shouldFlatten func(content []byte) bool) {
	w.Open('{')
	for name, val := range jsonedit.Members(raw) {
		if string(name) != `"content"` || !shouldFlatten(val) {
			w.RawKey(name).Value(val)
			continue
		}
		list, text := blocksOf(val)
		w.Str("content", text)
		if r.Blocks && len(list) > 0 {
			blocks(list)
		}
	}
	w.Close('}')
}
