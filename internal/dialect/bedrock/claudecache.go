package bedrock

import (
	"bytes"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// cacheMember is the member that marks the end of a cached prefix in Anthropic's format.
const cacheMember = "cache_control"

// markPaths are the positions of marks in a message request.
var markPaths = [...]string{
	cacheMember, "tools[*]." + cacheMember, "system[*]." + cacheMember,
	"messages[*].content[*]." + cacheMember, "messages[*].content[*].content[*]." + cacheMember,
}

// acceptedMarks removes from a message request what the model does not accept in its marks: all of
// them if it has no prompt cache, else the scope, and the lifetime if it has one only. It returns the
// paths of what had an effect.
// Source: https://github.com/Wei-Shaw/claude-relay-service/pull/965, of 2026-02-10 (scope);
// CachesForAnHour and CachesPrompts.
func acceptedMarks(body []byte, model string) (rest []byte, dropped []string) {
	var d jsonedit.Doc
	if !bytes.Contains(body, []byte(cacheMember)) || jsonedit.Scan(body, &d) != nil {
		return body, nil
	}
	var edits []jsonedit.Edit
	drop := func(path string) {
		edits = append(edits, jsonedit.Drop(path))
		d.EachValue(path, func(location string, raw []byte) {
			if !jsonedit.IsNull(raw) && string(raw) != `"5m"` {
				dropped = append(dropped, location)
			}
		})
	}
	for _, path := range markPaths {
		if !CachesPrompts(model) {
			drop(path)
			continue
		}
		drop(path + ".scope")
		if !CachesForAnHour(model) {
			drop(path + ".ttl")
		}
	}
	return d.Apply(edits), dropped
}

// cached moves the cache mark of the request, which Amazon rejects, into a list of messages. As
// Anthropic does, it sets the mark on the last block that can have one. It returns the list
// unchanged if there is no such block, or if that block already has a mark.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching and
// https://github.com/BerriAI/litellm/issues/26320, read 2026-11.
func cached(messages, mark []byte) []byte {
	var last []byte
	for m := range jsonedit.Elements(messages) {
		last = m
	}
	content, ok := jsonedit.Find(last, "content")
	if !ok || len(mark) == 0 || mark[0] != '{' {
		return messages
	}
	marked := markedContent(content, mark)
	if marked == nil {
		return messages
	}
	var w jsonwriter.Writer
	w.Open('[')
	for m := range jsonedit.Elements(messages) {
		if &m[0] == &last[0] {
			m = with(m, "content", marked)
		}
		w.Value(m)
	}
	w.Close(']')
	return w.B
}

// markedContent returns a string or a list of blocks with the mark; nil when it cannot be set.
func markedContent(content, mark []byte) []byte {
	if content[0] == '"' {
		if string(content) == `""` {
			return nil
		}
		var w jsonwriter.Writer
		w.Open('[')
		w.Open('{')
		w.Str("type", "text")
		w.Raw("text", content)
		w.Raw(cacheMember, mark)
		w.Close('}')
		w.Close(']')
		return w.B
	}
	lastIndex, n := -1, 0
	for b := range jsonedit.Elements(content) {
		if typ := jsonedit.Text(b, "type"); typ != "" && typ != "thinking" && typ != "redacted_thinking" {
			lastIndex = n
		}
		n++
	}
	if lastIndex < 0 {
		return nil
	}
	var w jsonwriter.Writer
	w.Open('[')
	n = 0
	for b := range jsonedit.Elements(content) {
		if n == lastIndex {
			if _, has := jsonedit.Find(b, cacheMember); has {
				return nil
			}
			b = with(b, cacheMember, mark)
		}
		w.Value(b)
		n++
	}
	w.Close(']')
	return w.B
}

// with returns an object with a member set. It replaces an existing member of that name.
func with(object []byte, name string, value []byte) []byte {
	var d jsonedit.Doc
	if jsonedit.Scan(object, &d) != nil { // it was part of a checked body
		return object
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set(name, value)})
}
