package guardedstream

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// event is one server-sent event. It is held until its texts may be released.
type event struct {
	raw  []byte // as received, with its blank line
	base []byte // raw, or a copy whose data is in one line; all spans refer to it
	name string // of the line "event:"
	data []byte // the value of the data line, inside base
	off  int    // offset of data in base
	json bool   // data is a JSON object
	cut  bool   // data begins as a JSON object and is not one

	fragments []*fragment
	lines     []line // data that is not JSON, comments, unknown fields

	// What the reader of the surface found.
	kind     string    // the type, for example "content_block_stop"
	last     bool      // ends the stream
	numbers  []number  // positions of calls, blocks and output items
	elements []element // members of lists that may be removed
	finishes []finish  // reasons for the end of a choice
	choices  []int     // choices that the event contains
	position position  // of the call, block or item that the event belongs to
	belongs  bool      // position is set; the event is dropped with it
	onlyCall bool      // the event has no content except the elements
	counted  bool      // the event contains the usage
}

// line is a line of an event that contains text and is not JSON.
type line struct {
	at      span // in base
	comment bool // the line is a separate text: a comment or an unknown field
}

// position identifies a tool call, a content block or an output item of an answer.
type position struct{ choice, index int }

// number is a position that an event states. It changes when items before it are removed.
type number struct {
	at       span // in data
	position position
	sequence bool // a sequence number, which counts events
}

// element is a member of a list that is removed with its position.
type element struct {
	at       span // in data
	list     span // in data; equal to at for the member of an object
	position position
}

// finish is the reason for the end of a choice, for example "tool_calls".
type finish struct {
	at     span // in data
	choice int
	reason string
}

// parseEvent reads the lines of an event.
func parseEvent(raw []byte) *event {
	e := &event{raw: raw, base: raw}
	var data []span
	for at := 0; at < len(raw); {
		stop, after := lineEnd(raw, at)
		if after == 0 { // the end of the stream also ends the line
			stop, after = len(bytes.TrimRight(raw, "\r")), len(raw)
		}
		if at == 0 {
			at += len(raw) - len(bytes.TrimPrefix(raw, byteOrder))
		}
		if s := (span{at, max(at, stop)}); s.end > s.start {
			data = e.readLine(s, data)
		}
		at = after
	}
	e.setData(data)
	return e
}

var (
	byteOrder = []byte("\xef\xbb\xbf") // allowed at the beginning of a stream
	colon     = []byte(":")
	brace     = []byte("{")
)

// readLine reads one line, and adds the value of a data line to data.
func (e *event) readLine(s span, data []span) []span {
	field, _, _ := bytes.Cut(e.raw[s.start:s.end], colon)
	value := span{min(s.start+len(field)+1, s.end), s.end}
	if value.start < value.end && e.raw[value.start] == ' ' {
		value.start++
	}
	name := string(field)
	switch name {
	case "data":
		return append(data, value)
	case "event", "id", "retry", "":
		text := string(e.raw[value.start:value.end])
		if strings.TrimSpace(text) != "" && (name == "" || !isIdentifier(text)) {
			e.lines = append(e.lines, line{value, true})
		} else if name == "event" {
			e.name = text
		}
	default:
		e.lines = append(e.lines, line{s, true})
	}
	return data
}

// setData sets the data of the event. Data in several lines is joined if it is JSON.
func (e *event) setData(lines []span) {
	if len(lines) == 0 {
		return
	}
	if len(lines) > 1 && e.join(lines) {
		return
	}
	s := lines[0]
	data := e.base[s.start:s.end:s.end]
	e.json = len(lines) == 1 && jsonedit.Valid(data)
	if e.json || len(lines) == 1 && isDone(data) {
		e.data, e.off = data, s.start
		return
	}
	e.cut = bytes.HasPrefix(bytes.TrimSpace(data), brace)
	for _, s := range lines {
		if s.end > s.start {
			e.lines = append(e.lines, line{s, false})
		}
	}
}

// join rebuilds the event with JSON data in one line. Between the lines of JSON are only spaces.
func (e *event) join(lines []span) bool {
	var data []byte
	for i, s := range lines {
		if i > 0 {
			data = append(data, ' ')
		}
		data = append(data, e.raw[s.start:s.end]...)
	}
	if !jsonedit.Valid(data) || len(e.lines) > 0 {
		return false
	}
	var base []byte
	if e.name != "" {
		base = append(append(append(base, "event: "...), e.name...), '\n')
	}
	base = append(base, "data: "...)
	e.off, e.json = len(base), true
	base = append(append(base, data...), "\n\n"...)
	e.base, e.data = base, base[e.off:e.off+len(data)]
	return true
}

// typeOf returns the type of a JSON event, which is also the name of the event.
func (e *event) typeOf(d document, root span) string {
	if kind := d.text(root, "type"); kind != "" {
		return kind
	}
	return e.name
}

// doc returns the data of a JSON event, and the span of its object.
func (e *event) doc() (document, span) {
	d := document(e.data)
	start := d.space(0)
	return d, span{start, d.valueEnd(start)}
}

// isTextEdited reports whether an edit changes a text of a choice in the event.
func (e *event) isTextEdited(choice int) bool {
	return slices.ContainsFunc(e.fragments, func(f *fragment) bool { return f.channel.id.Choice == choice && f.isEdited() })
}

// hasText reports whether the event contains text to judge.
func (e *event) hasText() bool {
	return slices.ContainsFunc(e.fragments, func(f *fragment) bool { return f.to > f.from })
}

// isDone reports whether data is the marker that ends OpenAI's streams.
func isDone(data []byte) bool {
	return len(data) < 16 && string(bytes.TrimSpace(data)) == "[DONE]"
}

// isIdentifier reports whether a text looks like an id, a type or a model and not like prose.
func isIdentifier(text string) bool {
	if len(text) > maxIdentifier {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-.:/@+=#", c) >= 0) {
			return false
		}
	}
	return true
}

// maxIdentifier is the maximum length of an identifier, in bytes.
const maxIdentifier = 256
