package guardedstream

import "bytes"

// messages reads the events of Anthropic's Messages API.
type messages struct {
	start   []byte // the raw event message_start, if it has no text
	id      []byte
	model   []byte
	usage   []byte // the last one that the provider counted
	started bool   // the client received message_start
	stopped bool   // the client received message_delta with a stop reason
	open    []int  // blocks that the client received without their end
}

// blockTexts are the kinds of the texts of content blocks and of their deltas, by member.
var blockTexts = map[string]string{"text": KindText, "thinking": KindReasoning, "partial_json": KindArguments}

func (m *messages) read(t *texts, e *event) {
	d, root := e.doc()
	e.kind = d.text(root, "type")
	index, hasIndex := d.find(root, "index")
	block := 0
	if hasIndex {
		block = d.integer(index, 0)
		e.position, e.belongs = position{0, block}, true
		e.numbers = append(e.numbers, number{at: index, position: e.position})
	}
	for name, value := range d.members(root) {
		m.readMember(t, e, block, name, value)
	}
	switch e.kind {
	case "content_block_stop":
		t.end(0, block)
	case "message_delta":
		t.end(0, -1)
	case "message_stop":
		e.last = true
	case "message_start":
		if !e.hasText() {
			m.start = e.raw
		}
	}
}

func (m *messages) readMember(t *texts, e *event, block int, name string, value span) {
	d := document(e.data)
	switch {
	case name == "message" && d.isObject(value):
		m.readMessage(t, e, value)
	case name == "usage" && d.isObject(value):
		m.usage = bytes.Clone(d.raw(value))
	case name == "content_block" && d.isObject(value):
		m.readBlock(t, e, block, value)
	case name == "delta" && d.isObject(value) && e.kind == "message_delta":
		m.readEnd(t, e, value)
	case name == "delta" && d.isObject(value):
		m.readTexts(t, e, block, value)
	case !d.isIdentity(name, value):
		t.addUnknown(e, -1, e.kind+"."+name, value)
	}
}

// readMessage reads the message of message_start.
func (m *messages) readMessage(t *texts, e *event, s span) {
	d := document(e.data)
	for name, value := range d.members(s) {
		switch {
		case name == "id":
			noteFirst(&m.id, d.raw(value))
		case name == "model":
			noteFirst(&m.model, d.raw(value))
		case name == "usage" && d.isObject(value):
			m.usage = bytes.Clone(d.raw(value))
		}
		if !d.isIdentity(name, value) {
			t.addUnknown(e, -1, "message."+name, value)
		}
	}
}

// readBlock reads the block of content_block_start.
func (m *messages) readBlock(t *texts, e *event, block int, s span) {
	d := document(e.data)
	switch d.text(s, "type") {
	case "thinking":
		c := t.open(Channel{KindReasoning, 0, block})
		c.complete = true
		e.fragments = append(e.fragments, &fragment{at: s, channel: c}) // holds the event
	case "tool_use":
		t.addCall(Call{Channel{KindArguments, 0, block}, d.text(s, "id"), d.text(s, "name")})
	}
	m.readTexts(t, e, block, s)
}

// readTexts reads a content block or a delta.
func (m *messages) readTexts(t *texts, e *event, block int, s span) {
	d := document(e.data)
	for name, value := range d.members(s) {
		kind, known := blockTexts[name]
		switch {
		case known && d.isString(value):
			t.add(e, Channel{kind, 0, block}, value)
		case name == "input" && d.isObject(value):
			if !d.isEmpty(value) {
				t.addRaw(e, Channel{KindArguments, 0, block}, value, d.raw(value), object)
			}
		case name == "signature" && d.isString(value) && isBase64(d.string(value)):
		case !d.isIdentity(name, value):
			t.addUnknown(e, 0, "block."+name, value)
		}
	}
}

// readEnd reads the delta of message_delta.
func (m *messages) readEnd(t *texts, e *event, s span) {
	d := document(e.data)
	for name, value := range d.members(s) {
		switch {
		case name == "stop_reason" && d.isString(value):
			e.finishes = append(e.finishes, finish{value, 0, d.string(value)})
		case !d.isIdentity(name, value):
			t.addUnknown(e, -1, "message_delta."+name, value)
		}
	}
}

func (m *messages) position(arguments Channel) position { return position{0, arguments.Block} }

func (m *messages) reason(f finish, callsLeft bool) string {
	if !callsLeft && f.reason == "tool_use" {
		return "end_turn"
	}
	return f.reason
}
