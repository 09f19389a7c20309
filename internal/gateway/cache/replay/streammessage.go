package replay

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// delta is how a member of a content block is sent: in events after the start of the block.
type delta struct {
	kind   string // "text_delta"
	member string // of the delta: "text"
	empty  []byte // value in the start of the block
	list   bool   // each element is one event; otherwise the member is a text in chunks
	json   bool   // the member is JSON that is sent as text in chunks
}

// blockDeltas are the members that are sent so, by the type of their block. Blocks of other types
// are sent complete in their start.
// Source: https://docs.claude.com/en/docs/build-with-claude/streaming, read 2026-11.
var blockDeltas = map[string]map[string]delta{
	"text": {
		"text":      {kind: "text_delta", member: "text", empty: emptyText},
		"citations": {kind: "citations_delta", member: "citation", empty: emptyList, list: true},
	},
	"thinking": {
		"thinking":  {kind: "thinking_delta", member: "thinking", empty: emptyText},
		"signature": {kind: "signature_delta", member: "signature", empty: emptyText},
	},
	"tool_use":        inputDeltas,
	"server_tool_use": inputDeltas,
	"mcp_tool_use":    inputDeltas,
}

var inputDeltas = map[string]delta{
	"input": {kind: "input_json_delta", member: "partial_json", empty: []byte("{}"), json: true},
}

// endMembers are members of a message that are known at its end.
var endMembers = map[string]bool{"stop_reason": true, "stop_sequence": true}

// streamMessage writes a message of Anthropic's format.
func streamMessage(dst, body []byte, _ Options) []byte {
	dst = appendEvent(dst, "message_start", func(w *jsonwriter.Writer) {
		w.Key("message").Open('{')
		copyMembers(w, body, func(name string, _ []byte) bool {
			switch {
			case name == "content":
				w.Raw(name, emptyList)
			case endMembers[name]:
				w.Raw(name, null)
			default:
				return false
			}
			return true
		})
		w.Close('}')
	})
	content, _ := jsonedit.Find(body, "content")
	index := int64(0)
	for block := range jsonedit.Elements(content) {
		dst = appendBlock(dst, index, block)
		index++
	}
	dst = appendEvent(dst, "message_delta", func(w *jsonwriter.Writer) {
		w.Key("delta").Open('{')
		copyMembers(w, body, func(name string, _ []byte) bool { return !endMembers[name] })
		w.Close('}')
		usage, _ := jsonedit.Find(body, "usage")
		w.Raw("usage", usage)
	})
	return appendEvent(dst, "message_stop", func(*jsonwriter.Writer) {})
}

// appendBlock writes one content block.
func appendBlock(dst []byte, index int64, block []byte) []byte {
	deltas := blockDeltas[jsonedit.Text(block, "type")]
	dst = appendEvent(dst, "content_block_start", func(w *jsonwriter.Writer) {
		w.Int("index", index)
		w.Key("content_block").Open('{')
		copyMembers(w, block, func(name string, val []byte) bool {
			d, ok := deltas[name]
			if !ok || jsonedit.IsNull(val) {
				return false
			}
			w.Raw(name, d.empty)
			return true
		})
		w.Close('}')
	})
	for raw, val := range jsonedit.Members(block) {
		name, _ := jsonedit.Unquote(raw)
		if d, ok := deltas[name]; ok {
			dst = d.append(dst, index, val)
		}
	}
	return appendEvent(dst, "content_block_stop", func(w *jsonwriter.Writer) { w.Int("index", index) })
}

// append writes the events of one member.
func (d *delta) append(dst []byte, index int64, val []byte) []byte {
	event := func(value []byte) {
		dst = appendEvent(dst, "content_block_delta", func(w *jsonwriter.Writer) {
			w.Int("index", index)
			w.Key("delta").Open('{')
			w.Str("type", d.kind)
			w.Raw(d.member, value)
			w.Close('}')
		})
	}
	if d.list {
		for element := range jsonedit.Elements(val) {
			event(element)
		}
		return dst
	}
	text, _ := jsonedit.Unquote(val)
	if d.json {
		text = string(val)
	}
	chunks(text, func(part string) { event(jsonedit.Quote(part)) })
	return dst
}
