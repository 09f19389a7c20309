package replay

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// message assembles the events of a message in Anthropic's format.
type message struct {
	*builder
	top    node // of message_start; none before it
	blocks []*node
	ended  bool // message_stop arrived
}

// partialJSON is the member of a block that collects the text of its input.
const partialJSON = "partial_json"

// event implements assembly.
func (m *message) event(data []byte) {
	switch jsonedit.Text(data, "type") {
	case "message_start":
		if raw, _ := jsonedit.Find(data, "message"); m.top.kind == noValue && len(raw) > 0 {
			m.start(&m.top, raw)
		}
	case "content_block_start":
		if block, _ := jsonedit.Find(data, "content_block"); len(block) > 0 {
			m.add(nodeBytes)
			n := &node{index: indexOf(data)}
			m.start(n, block)
			m.blocks = append(m.blocks, n)
		}
	case "content_block_delta":
		delta, _ := jsonedit.Find(data, "delta")
		m.delta(m.block(indexOf(data)), delta)
	case "message_delta":
		m.messageDelta(data)
	case "message_stop":
		m.ended = true
	}
}

// start makes an object node with the members of raw as they are.
func (m *message) start(n *node, raw []byte) {
	*n = node{kind: objectNode, index: n.index}
	for name, val := range jsonedit.Members(raw) {
		if child := m.child(n, name); isString(val) || len(val) > 0 && val[0] == '[' {
			m.merge(child, nameOf(name), val)
		} else {
			m.set(child, val)
		}
	}
}

// block returns the block with an index, or nil.
func (m *message) block(index int64) *node {
	for _, n := range m.blocks {
		if n.index == index {
			return n
		}
	}
	return nil
}

// delta adds to a block.
func (m *message) delta(block *node, delta []byte) {
	if block == nil {
		return
	}
	for name, val := range jsonedit.Members(delta) {
		if string(name) != `"type"` {
			m.mergeDelta(block, name, val)
		}
	}
}

// messageDelta replaces members of the message and of its usage.
func (m *message) messageDelta(data []byte) {
	for raw, val := range jsonedit.Members(data) {
		switch string(raw) {
		case `"type"`:
		case `"delta"`:
			m.replaceMembers(&m.top, val)
		case `"usage"`:
			usage := m.child(&m.top, raw)
			if had := usage.raw; usage.kind == rawValue {
				*usage = node{kind: objectNode}
				m.replaceMembers(usage, had)
			}
			usage.kind = objectNode
			m.replaceMembers(usage, val)
		default:
			m.set(m.child(&m.top, raw), val)
		}
	}
}

func (m *message) replaceMembers(n *node, raw []byte) {
	for name, val := range jsonedit.Members(raw) {
		m.set(m.child(n, name), val)
	}
}

// end implements assembly. This surface has no [DONE].
func (m *message) end() {}

// body implements assembly.
func (m *message) body() ([]byte, bool) {
	if m.top.kind == noValue {
		return nil, false
	}
	valid := true
	body := document(&m.top, func(name string) bool { return name == "content" }, func(w *jsonwriter.Writer) {
		w.Key("content").Open('[')
		for _, n := range m.blocks {
			valid = m.setInput(n) && valid
			w.Open('{')
			n.writeMembers(w, func(name string) bool { return name == partialJSON })
			w.Close('}')
		}
		w.Close(']')
	})
	return body, m.ended && valid
}

// setInput parses the collected input of a block. It returns false if the input is not an object.
func (m *message) setInput(block *node) bool {
	partial := block.find(partialJSON)
	if partial == nil || len(partial.raw) == 0 {
		return true
	}
	quoted := append(append([]byte{'"'}, partial.raw...), '"')
	input := jsonedit.AppendUnquoted(nil, quoted)
	if !jsonedit.Valid(input) {
		return false
	}
	m.setMember(block, "input", input)
	return true
}
