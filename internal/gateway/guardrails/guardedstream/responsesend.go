package guardedstream

import (
	"cmp"
	"slices"
	"strconv"

	"sluice/internal/kernel/jsonedit"
)

// item is an output item that the client received.
type item struct {
	choice int // its index as received
	index  int // its index as the client received it
	raw    []byte
	done   bool
	parts  []openPart
}

// openPart is a content part without its end.
type openPart struct {
	index int
	kind  string // "output_text" or "refusal"
}

func (r *responses) release(e *event, raw []byte) {
	for _, n := range e.numbers {
		if n.sequence {
			r.sequence = n.position.index
		}
	}
	switch e.kind {
	case "response.created":
		r.started = true
	case "response.output_item.added", "response.output_item.done", "response.content_part.added", "response.content_part.done":
		if d := document(parseEvent(raw).data); len(d) > 0 {
			r.releaseItem(e, d, span{d.space(0), len(d)})
		}
	}
}

func (r *responses) releaseItem(e *event, d document, root span) {
	index := d.number(root, "output_index", 0)
	value, ok := d.find(root, "item")
	done := e.kind == "response.output_item.done"
	switch at := r.item(index); {
	case ok && d.isObject(value) && at == nil:
		r.items = append(r.items, item{choice: e.position.index, index: index, raw: slices.Clone(d.raw(value)), done: done})
	case ok && d.isObject(value):
		at.raw, at.done = slices.Clone(d.raw(value)), done
	case at != nil:
		releasePart(at, e, d, root)
	}
}

func releasePart(at *item, e *event, d document, root span) {
	content := d.number(root, "content_index", 0)
	at.parts = slices.DeleteFunc(at.parts, func(p openPart) bool { return p.index == content })
	part, ok := d.find(root, "part")
	if !ok || e.kind != "response.content_part.added" {
		return
	}
	if kind := d.text(part, "type"); endingEvents[kind] != "" {
		at.parts = append(at.parts, openPart{content, kind})
	}
}

// endingEvents are the events with the complete text of a part, by its type.
var endingEvents = map[string]string{"output_text": "response.output_text.done", "refusal": "response.refusal.done"}

func (r *responses) item(index int) *item {
	for i := range r.items {
		if r.items[i].index == index {
			return &r.items[i]
		}
	}
	return nil
}

// end closes the open parts and items with the text that the client received, and ends the response
// as incomplete.
func (r *responses) end(dst []byte, t *texts) []byte {
	if !r.started {
		dst = r.appendStart(dst)
	}
	for i := range r.items {
		if at := &r.items[i]; !at.done {
			dst = r.endItem(dst, t, at)
		}
	}
	slices.SortStableFunc(r.items, func(a, b item) int { return cmp.Compare(a.index, b.index) })
	output := []byte{'['}
	for i := range r.items {
		if i > 0 {
			output = append(output, ',')
		}
		output = append(output, r.items[i].raw...)
	}
	response := r.state("incomplete", `{"reason":"content_filter"}`, append(output, ']'))
	return r.appendEvent(dst, "response.incomplete", `"response":`+response)
}

// appendStart appends the event response.created as it was received, or a new one.
func (r *responses) appendStart(dst []byte) []byte {
	if r.created != nil {
		return append(dst, r.created...)
	}
	r.sequence--
	return r.appendEvent(dst, "response.created", `"response":`+r.state("in_progress", "null", []byte("[]")))
}

// endItem appends the events that end an item.
func (r *responses) endItem(dst []byte, t *texts, at *item) []byte {
	id := document(at.raw).text(span{0, len(at.raw)}, "id")
	head := `"item_id":` + string(jsonedit.Quote(id)) + `,"output_index":` + strconv.Itoa(at.index)
	for _, p := range at.parts {
		content := head + `,"content_index":` + strconv.Itoa(p.index)
		text := t.released(Channel{partTexts[p.kind].kind, at.choice, p.index})
		member := `,"` + partTexts[p.kind].member + `":` + string(jsonedit.Quote(text))
		dst = r.appendEvent(dst, endingEvents[p.kind], content+member)
		dst = r.appendEvent(dst, "response.content_part.done", content+`,"part":`+encodePart(p.kind, text))
	}
	at.raw, at.done = incompleteItem(at, t), true
	return r.appendEvent(dst, "response.output_item.done", `"output_index":`+strconv.Itoa(at.index)+`,"item":`+string(at.raw))
}

// encodePart returns a content part.
func encodePart(kind, text string) string {
	out := `{"type":"` + kind + `","` + partTexts[kind].member + `":` + string(jsonedit.Quote(text))
	if kind == "output_text" {
		out += `,"annotations":[]`
	}
	return out + "}"
}

// incompleteItem returns an item with the text that the client received.
func incompleteItem(at *item, t *texts) []byte {
	d := document(at.raw)
	var out []byte
	for name, value := range d.members(span{0, len(d)}) {
		raw := string(d.raw(value))
		switch {
		case name == "status":
			raw = `"incomplete"`
		case name == "content" && d.isList(value):
			raw = joinParts(t, at.choice, map[string]string{KindText: "output_text", KindRefusal: "refusal"})
		case name == "summary" && d.isList(value):
			raw = joinParts(t, at.choice, map[string]string{KindReasoning: "summary_text"})
		case itemTexts[name] != "" && d.isString(value):
			raw = string(jsonedit.Quote(t.released(Channel{itemTexts[name], at.choice, 0})))
		}
		out = appendMember(out, name, raw)
	}
	return append(out, '}')
}

// joinParts returns the list of the parts of an item whose text the client received.
func joinParts(t *texts, choice int, types map[string]string) string {
	out := "["
	for _, c := range t.list {
		if kind := types[c.id.Kind]; kind != "" && c.id.Choice == choice && c.released > 0 && c.id.Block >= 0 && c.id.Block < reasoningContent {
			if len(out) > 1 {
				out += ","
			}
			out += encodePart(kind, t.released(c.id))
		}
	}
	return out + "]"
}

// state returns the response object. It contains only members without text of the model.
func (r *responses) state(status, details string, output []byte) string {
	d := document(orDefault(r.response, `{"id":"resp_denied","object":"response","created_at":0,"model":"","error":null}`))
	var out []byte
	for name, value := range d.members(span{0, len(d)}) {
		if !endMembers[name] && (requestMembers[name] || d.isCount(name, value) && !d.isObject(value)) {
			out = appendMember(out, name, string(d.raw(value)))
		}
	}
	out = appendMember(out, "status", `"`+status+`"`)
	out = appendMember(out, "incomplete_details", details)
	out = appendMember(out, "output", string(output))
	out = appendMember(out, "usage", orDefault(r.usage, "null"))
	return string(append(out, '}'))
}

// endMembers are the members that state sets.
var endMembers = map[string]bool{"status": true, "incomplete_details": true, "output": true, "usage": true}

// appendMember appends a member of an object, whose brace it opens.
func appendMember(dst []byte, name, raw string) []byte {
	if len(dst) == 0 {
		dst = append(dst, '{')
	} else {
		dst = append(dst, ',')
	}
	return append(append(jsonedit.AppendQuoted(dst, name), ':'), raw...)
}

// appendEvent appends an event with the next sequence number.
func (r *responses) appendEvent(dst []byte, kind, members string) []byte {
	r.sequence++
	dst = append(append(dst, "event: "...), kind...)
	dst = append(append(dst, "\ndata: {\"type\":\""...), kind...)
	dst = append(dst, "\",\"sequence_number\":"...)
	dst = strconv.AppendInt(dst, int64(r.sequence), 10)
	return append(append(append(dst, ','), members...), "}\n\n"...)
}
