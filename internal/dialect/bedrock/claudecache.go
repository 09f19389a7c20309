package bedrock

import (
	"sluice/internal/dialect"
	"sluice/internal/splice"
)

// cached is a list of messages with the mark of the cache that the caller put on the request
// as a whole, which Amazon refuses: it stands where Anthropic itself puts it, on the last block
// that can have one. Where there is none such, or it has a mark, the list stays.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching and
// https://github.com/BerriAI/litellm/issues/26320, read 2026-11.
func cached(messages, mark []byte) []byte {
	var last []byte
	for m := range splice.Elements(messages) {
		last = m
	}
	content, ok := splice.Find(last, "content")
	if !ok || len(mark) == 0 || mark[0] != '{' {
		return messages
	}
	marked := markedContent(content, mark)
	if marked == nil {
		return messages
	}
	var w dialect.JSON
	w.Open('[')
	for m := range splice.Elements(messages) {
		if &m[0] == &last[0] {
			m = with(m, "content", marked)
		}
		w.Value(m)
	}
	w.Close(']')
	return w.B
}

// markedContent is a text or a list of blocks with the mark; nil when it has no place for it.
func markedContent(content, mark []byte) []byte {
	if content[0] == '"' {
		if string(content) == `""` {
			return nil
		}
		var w dialect.JSON
		w.Open('[')
		w.Open('{')
		w.Str("type", "text")
		w.Raw("text", content)
		w.Raw("cache_control", mark)
		w.Close('}')
		w.Close(']')
		return w.B
	}
	lastIndex, n := -1, 0
	for b := range splice.Elements(content) {
		if typ := splice.Text(b, "type"); typ != "" && typ != "thinking" && typ != "redacted_thinking" {
			lastIndex = n
		}
		n++
	}
	if lastIndex < 0 {
		return nil
	}
	var w dialect.JSON
	w.Open('[')
	n = 0
	for b := range splice.Elements(content) {
		if n == lastIndex {
			if _, has := splice.Find(b, "cache_control"); has {
				return nil
			}
			b = with(b, "cache_control", mark)
		}
		w.Value(b)
		n++
	}
	w.Close(']')
	return w.B
}

// with is an object with a member, in the place of the one of its name.
func with(object []byte, name string, value []byte) []byte {
	var d splice.Doc
	if splice.Scan(object, &d) != nil { // it was part of a checked body
		return object
	}
	return d.Apply([]splice.Edit{splice.Set(name, value)})
}
