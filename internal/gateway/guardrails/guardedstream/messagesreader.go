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
	e.kind = e.typeOf(d, root)
	index, hasIndex := d.find(root, "index")
	block := 0
	if hasIndex {
		block = d.integer(index, 0)
		e.position, e.belongs = position{0, block}, true
		e.numbers = append(e.numbers, number{at: index, position: e.position})
	}
	for name, value := range d.members(root) {
		switch read := messageMembers[name]; {
		case read != nil && d.isObject(value):
			read(m, t, e, block, value)
		case !d.isIdentity(name, value):
			t.addUnknown(e, -1, e.kind+"."+name, value)
		}
	}
	m.finishRead(t, e, block)
}

// finishRead notes what the type of an event ends.
func (m *messages) finishRead(t *texts, e *event, block int) {
	switch e.kind {
	case "content_block_stop":
		t.end(0, block)
	case "message_delta":
		t.end(0, -1)
	case "message_stop":
		e.last = true
	case "message_start":
		if !e.hasText() && len(e.lines) == 0 {
			m.start = e.raw
		}
	}
}

// messageMembers read the objects of an event.
var messageMembers = map[string]func(m *messages, t *texts, e *event, block int, value span){
	"message":       (*messages).readMessage,
	"usage":         (*messages).readUsage,
	"content_block": (*messages).readBlock,
	"delta":         (*messages).readDelta,
}

// readMessage reads the message of message_start.
func (m *messages) readMessage(t *texts, e *event, block int, s span) {
	d := document(e.data)
	noteMember(&m.id, d, s, "id")
	noteMember(&m.model, d, s, "model")
	for name, value := range d.members(s) {
		switch {
		case name == "usage" && d.isObject(value):
			m.readUsage(t, e, block, value)
		case !d.isIdentity(name, value):
			t.addUnknown(e, -1, "message."+name, value)
		}
	}
}

// noteMember copies an identifier into at unless at is set.
func noteMember(at *[]byte, d document, object span, name string) {
	if value, ok := d.find(object, name); ok {
		noteFirst(at, d, name, value)
	}
}

func (m *messages) readUsage(t *texts, e *event, _ int, s span) {
	d := document(e.data)
	if d.isCount("usage", s) {
		m.usage = bytes.Clone(d.raw(s))
	}
	t.addUnknown(e, -1, "usage", s)
}

func (m *messages) readDelta(t *texts, e *event, block int, s span) {
	if e.kind == "message_delta" {
		m.readEnd(t, e, s)
		return
	}
	m.readTexts(t, e, block, s)
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
		kind := blockTexts[name]
		switch {
		case kind != "" && d.isString(value):
			t.add(e, Channel{kind, 0, block}, value)
		case name == "input" && d.isObject(value):
			if !d.isEmpty(value) { // with an empty one, the input follows in deltas
				t.addRaw(e, Channel{KindArguments, 0, block}, value, d.raw(value), object)
			}
		case !d.isSignature(name, value) && !d.isName(name, value) && !d.isIdentity(name, value):
			t.addUnknown(e, 0, "block."+name, value)
		}
	}
}

// readEnd reads the delta of message_delta.
func (m *messages) readEnd(t *texts, e *event, s span) {
	d := document(e.data)
	for name, value := range d.members(s) {
		switch {
		case name == "stop_reason" && d.isIdentity(name, value):
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

// counted implements surface.
func (m *messages) counted() *[]byte { return &m.usage }
