package replay

import (
	"bytes"
	"strconv"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// node is a JSON value that grows by the deltas of a stream: texts become longer, objects and lists
// get more members and elements, and all other values are replaced.
type node struct {
	kind    nodeKind
	raw     []byte   // of a value; of a text, without its quotes and still escaped
	members []member // of an object, in the order of their arrival
	items   []*node  // of a list
	index   int64    // of an element with a member "index"; otherwise -1
}

type nodeKind int

const (
	noValue nodeKind = iota
	rawValue
	growingText
	objectNode
	listNode
)

type member struct {
	name []byte // raw
	node *node
}

// growing are the texts that arrive in parts. Other strings are complete: many providers repeat
// ids, names and roles in every delta.
var growing = map[string]bool{
	"content": true, "refusal": true, "reasoning_content": true, "reasoning": true, "thinking": true, "text": true,
	"arguments": true, "input": true, "partial_json": true, "data": true, "transcript": true, "summary": true,
	"signature": true, "thought_signature": true,
}

// numbered are lists whose deltas select their element by an index. If the value is true, the index
// is not part of the complete response.
var numbered = map[string]bool{"tool_calls": true, "content_blocks": true, "reasoning_details": false}

// nodeBytes is the memory of a node besides its value.
const nodeBytes = 64

// builder collects one response and bounds its size.
type builder struct {
	left int // bytes that may still be added; negative: the response is too large
}

// add reports whether n more bytes may be stored.
func (b *builder) add(n int) bool {
	b.left -= n
	return b.left >= 0
}

// merge adds a delta. name is the name of the member that contains the node. raw is a valid value
// of a limited depth.
func (b *builder) merge(n *node, name, raw []byte) {
	if len(raw) == 0 || b.left < 0 {
		return
	}
	switch raw[0] {
	case '"':
		b.mergeString(n, name, raw)
	case '{':
		b.mergeObject(n, raw)
	case '[':
		b.mergeList(n, name, raw)
	case 'n': // null replaces nothing
		if n.kind == noValue {
			b.set(n, raw)
		}
	default:
		b.set(n, raw)
	}
}

// mergeString appends to a growing text, or replaces another string unless the new one is empty.
func (b *builder) mergeString(n *node, name, raw []byte) {
	switch {
	case growing[string(name)]:
		b.grow(n, raw[1:len(raw)-1])
	case len(raw) > 2 || n.kind == noValue:
		b.set(n, raw)
	}
}

// set replaces the node.
func (b *builder) set(n *node, raw []byte) {
	if n.kind == rawValue && bytes.Equal(n.raw, raw) {
		return // most chunks repeat the id and the model
	}
	if b.add(len(raw) - len(n.raw)) {
		*n = node{kind: rawValue, raw: bytes.Clone(raw), index: n.index}
	}
}

// grow appends to a text. The parts are joined while they are still escaped, so the two escapes of
// one character may be in two deltas.
func (b *builder) grow(n *node, part []byte) {
	if !b.add(len(part)) {
		return
	}
	if n.kind != growingText {
		*n = node{kind: growingText, index: n.index}
	}
	n.raw = append(n.raw, part...)
}

func (b *builder) mergeObject(n *node, raw []byte) {
	if n.kind != objectNode {
		*n = node{kind: objectNode, index: n.index}
	}
	for name, val := range jsonedit.Members(raw) {
		b.merge(b.child(n, name), nameOf(name), val)
	}
}

// child returns the member of an object with that raw name. It adds the member if it is missing.
func (b *builder) child(n *node, name []byte) *node {
	for i := range n.members {
		if bytes.Equal(n.members[i].name, name) {
			return n.members[i].node
		}
	}
	b.add(len(name) + nodeBytes)
	child := &node{index: -1}
	n.members = append(n.members, member{bytes.Clone(name), child})
	return child
}

// find returns the member of an object, or nil.
func (n *node) find(name string) *node {
	for i := range n.members {
		if jsonedit.IsName(n.members[i].name, name) {
			return n.members[i].node
		}
	}
	return nil
}

// setMember makes raw the value of a member.
func (b *builder) setMember(n *node, name string, raw []byte) {
	b.set(b.child(n, jsonedit.Quote(name)), raw)
}

func (b *builder) mergeList(n *node, name, raw []byte) {
	if n.kind != listNode {
		*n = node{kind: listNode, index: n.index}
	}
	_, byIndex := numbered[string(name)]
	for element := range jsonedit.Elements(raw) {
		var item *node
		if byIndex {
			item = n.item(name, element)
		}
		if item == nil {
			b.add(nodeBytes)
			item = &node{index: indexOf(element)}
			n.items = append(n.items, item)
		}
		switch {
		case string(name) == "content_blocks":
			b.mergeBlock(item, element)
		case byIndex:
			b.merge(item, nil, element)
		default:
			b.set(item, element)
		}
	}
}

// item returns the element that a delta continues, or nil if it begins a new one. Servers that do
// not number tool calls begin each call with its id.
func (n *node) item(name, element []byte) *node {
	index := indexOf(element)
	if index >= 0 {
		for _, item := range n.items {
			if item.index == index && sameType(item, element) {
				return item
			}
		}
		return nil
	}
	if string(name) != "tool_calls" || len(n.items) == 0 {
		return nil
	}
	last := n.items[len(n.items)-1]
	id, _ := jsonedit.Find(element, "id")
	if had := last.find("id"); isString(id) && (had == nil || !bytes.Equal(had.raw, id)) {
		return nil
	}
	return last
}

// sameType reports whether a delta is of the type of an element, if both have one. Entries of
// reasoning_details with one index may differ in it.
func sameType(item *node, element []byte) bool {
	had, kind := item.find("type"), jsonedit.Text(element, "type")
	return had == nil || kind == "" || jsonedit.IsName(had.raw, kind)
}

func indexOf(element []byte) int64 {
	raw, _ := jsonedit.Find(element, "index")
	n, err := strconv.ParseInt(string(raw), 10, 32)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// mergeBlock adds a delta of a content block: {"index":0,"delta":{"thinking":"hm"}}. Its type
// follows from its members.
func (b *builder) mergeBlock(item *node, element []byte) {
	delta, ok := jsonedit.Find(element, "delta")
	if !ok {
		delta = element
	}
	if item.kind == noValue {
		*item = node{kind: objectNode, index: item.index}
		b.setMember(item, "type", jsonedit.Quote(blockType(delta)))
	}
	for name, val := range jsonedit.Members(delta) {
		b.mergeDelta(item, name, val)
	}
}

// mergeDelta adds a member of a delta to a content block. Citations arrive one by one.
func (b *builder) mergeDelta(block *node, name, val []byte) {
	if string(name) == `"citation"` {
		b.mergeList(b.child(block, []byte(`"citations"`)), nil, listOf(val))
		return
	}
	b.merge(b.child(block, name), nameOf(name), val)
}

func blockType(delta []byte) string {
	for _, kind := range [][2]string{{"text", "text"}, {"data", "redacted_thinking"}, {"image_url", "image_url"}} {
		if _, ok := jsonedit.Find(delta, kind[0]); ok {
			return kind[1]
		}
	}
	return "thinking"
}

// listOf returns a list with one element.
func listOf(element []byte) []byte {
	return append(append([]byte{'['}, element...), ']')
}

// write writes the value. name is that of the member that contains it.
func (n *node) write(w *jsonwriter.Writer, name []byte) {
	switch n.kind {
	case noValue:
		w.Value(null)
	case rawValue:
		w.Value(n.raw)
	case growingText:
		w.Value(append(append([]byte{'"'}, n.raw...), '"'))
	case objectNode:
		w.Open('{')
		n.writeMembers(w, func(string) bool { return false })
		w.Close('}')
	case listNode:
		w.Open('[')
		for _, item := range n.items {
			if item.kind != objectNode {
				item.write(w, nil)
				continue
			}
			w.Open('{')
			item.writeMembers(w, func(member string) bool { return numbered[string(name)] && member == "index" })
			w.Close('}')
		}
		w.Close(']')
	}
}

// writeMembers writes the members of an object, except those that omit selects.
func (n *node) writeMembers(w *jsonwriter.Writer, omit func(name string) bool) {
	for _, m := range n.members {
		if name := nameOf(m.name); !omit(string(name)) {
			w.RawKey(m.name)
			m.node.write(w, name)
		}
	}
}

// nameOf returns the name of a member without quotes and escapes.
func nameOf(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return jsonedit.AppendUnquoted(nil, raw)
	}
	return raw[1 : len(raw)-1]
}
