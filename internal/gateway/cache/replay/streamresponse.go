package replay

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// streamResponse writes a response of the Responses API.
// Source: https://platform.openai.com/docs/api-reference/responses-streaming, read 2026-11.
func streamResponse(dst, body []byte, _ Options) []byte {
	s := responseStream{dst: dst}
	for _, name := range []string{"response.created", "response.in_progress"} {
		s.event(name, func(w *jsonwriter.Writer) {
			w.Key("response").Open('{')
			copyMembers(w, body, func(name string, _ []byte) bool { return began(w, name) })
			w.Close('}')
		})
	}
	output, _ := jsonedit.Find(body, "output")
	for item := range jsonedit.Elements(output) {
		s.item(item)
		s.output++
	}
	s.event("response.completed", func(w *jsonwriter.Writer) { w.Raw("response", body) })
	return s.dst
}

// began writes the members that differ while a response is in progress.
func began(w *jsonwriter.Writer, name string) bool {
	switch name {
	case "status":
		w.Str(name, "in_progress")
	case "output":
		w.Raw(name, emptyList)
	case "usage", "completed_at":
		w.Raw(name, null)
	case "output_text":
	default:
		return false
	}
	return true
}

// responseStream writes the events of a response.
type responseStream struct {
	dst      []byte
	sequence int64
	output   int64  // index of the item
	itemID   []byte // raw
}

// event writes an event with the next number.
func (s *responseStream) event(name string, fill func(w *jsonwriter.Writer)) {
	s.dst = appendEvent(s.dst, name, func(w *jsonwriter.Writer) {
		w.Int("sequence_number", s.sequence)
		fill(w)
	})
	s.sequence++
}

// ofItem writes an event about the current item.
func (s *responseStream) ofItem(name string, fill func(w *jsonwriter.Writer)) {
	s.event(name, func(w *jsonwriter.Writer) {
		w.Raw("item_id", s.itemID)
		w.Int("output_index", s.output)
		fill(w)
	})
}

// itemTexts are the texts of items without parts, and the names of their events.
var itemTexts = map[string]struct{ member, event string }{
	"function_call":    {"arguments", "response.function_call_arguments"},
	"custom_tool_call": {"input", "response.custom_tool_call_input"},
	"mcp_call":         {"arguments", "response.mcp_call_arguments"},
}

// item writes the events of one item. Items of other types have only a start and an end.
func (s *responseStream) item(item []byte) {
	s.itemID, _ = jsonedit.Find(item, "id")
	text, hasText := itemTexts[jsonedit.Text(item, "type")]
	s.event("response.output_item.added", func(w *jsonwriter.Writer) {
		w.Int("output_index", s.output)
		w.Key("item").Open('{')
		copyMembers(w, item, func(name string, val []byte) bool { return beganItem(w, text.member, name, val) })
		w.Close('}')
	})
	s.parts("summary", item)
	s.parts("content", item)
	if hasText {
		val, _ := jsonedit.Find(item, text.member)
		s.text(text.event, text.member, val, nil)
	}
	s.event("response.output_item.done", func(w *jsonwriter.Writer) {
		w.Int("output_index", s.output)
		w.Raw("item", item)
	})
}

// beganItem writes the members that differ while an item is in progress. text is the name of its
// text; empty if it has none.
func beganItem(w *jsonwriter.Writer, text, name string, val []byte) bool {
	isList := len(val) > 0 && val[0] == '['
	switch {
	case name == "status":
		w.Str(name, "in_progress")
	case name == "encrypted_content": // at the end of the item
	case (name == "content" || name == "summary") && isList:
		w.Raw(name, emptyList)
	case name == text && text != "":
		w.Raw(name, emptyText)
	default:
		return false
	}
	return true
}

// parts writes the parts in a list of the item.
func (s *responseStream) parts(list string, item []byte) {
	raw, _ := jsonedit.Find(item, list)
	index := int64(0)
	for part := range jsonedit.Elements(raw) {
		s.part(list, index, part)
		index++
	}
}

// partKind is how a part of an item is sent.
type partKind struct{ member, event string }

// partKinds are the types of parts with a text.
var partKinds = map[string]partKind{
	"output_text":    {"text", "response.output_text"},
	"refusal":        {"refusal", "response.refusal"},
	"reasoning_text": {"text", "response.reasoning_text"},
	"summary_text":   {"text", "response.reasoning_summary_text"},
}

func (s *responseStream) part(list string, index int64, part []byte) {
	event, indexName := "response.content_part", "content_index"
	if list == "summary" {
		event, indexName = "response.reasoning_summary_part", "summary_index"
	}
	kind, known := partKinds[jsonedit.Text(part, "type")]
	at := func(w *jsonwriter.Writer) { w.Int(indexName, index) }
	s.ofItem(event+".added", func(w *jsonwriter.Writer) {
		at(w)
		w.Key("part").Open('{')
		copyMembers(w, part, func(name string, _ []byte) bool {
			switch {
			case known && name == kind.member:
				w.Raw(name, emptyText)
			case name == "annotations" || name == "logprobs":
				w.Raw(name, emptyList)
			default:
				return false
			}
			return true
		})
		w.Close('}')
	})
	if val, _ := jsonedit.Find(part, kind.member); known {
		s.text(kind.event, kind.member, val, at)
	}
	s.annotations(part, at)
	s.ofItem(event+".done", func(w *jsonwriter.Writer) {
		at(w)
		w.Raw("part", part)
	})
}

// text writes a text in chunks, and once more as a whole. at writes the index of its part; nil
// for an item without parts.
func (s *responseStream) text(event, member string, val []byte, at func(w *jsonwriter.Writer)) {
	if at == nil {
		at = func(*jsonwriter.Writer) {}
	}
	logprobs := func(w *jsonwriter.Writer) {
		if event == "response.output_text" {
			w.Raw("logprobs", emptyList)
		}
	}
	text, _ := jsonedit.Unquote(val)
	chunks(text, func(chunk string) {
		s.ofItem(event+".delta", func(w *jsonwriter.Writer) {
			at(w)
			w.Str("delta", chunk)
			logprobs(w)
		})
	})
	s.ofItem(event+".done", func(w *jsonwriter.Writer) {
		at(w)
		w.Str(member, text)
		logprobs(w)
	})
}

func (s *responseStream) annotations(part []byte, at func(w *jsonwriter.Writer)) {
	list, _ := jsonedit.Find(part, "annotations")
	index := int64(0)
	for annotation := range jsonedit.Elements(list) {
		s.ofItem("response.output_text.annotation.added", func(w *jsonwriter.Writer) {
			at(w)
			w.Int("annotation_index", index)
			w.Raw("annotation", annotation)
		})
		index++
	}
}
