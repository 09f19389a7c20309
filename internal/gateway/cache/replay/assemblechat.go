package replay

import (
	"bytes"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// choices assembles the chunks of a chat or text completion.
type choices struct {
	*builder
	object string // "chat.completion"
	top    node   // members of the chunks, the last value of each
	list   []*node
}

func newChoices(b *builder, name string) *choices {
	return &choices{builder: b, object: name, top: node{kind: objectNode}}
}

// paddingMembers are members of chunks that no response has.
var paddingMembers = map[string]bool{"object": true, "obfuscation": true}

// event implements assembly.
func (c *choices) event(data []byte) {
	for raw, val := range jsonedit.Members(data) {
		switch name := nameOf(raw); {
		case string(name) == "choices":
			for choice := range jsonedit.Elements(val) {
				c.choice(choice)
			}
		case paddingMembers[string(name)]:
		default:
			if child := c.child(&c.top, raw); child.kind == noValue || !jsonedit.IsNull(val) {
				c.set(child, val)
			}
		}
	}
}

// choice adds a delta of one choice.
func (c *choices) choice(raw []byte) {
	n, message := c.at(max(indexOf(raw), 0)), []byte(`"message"`)
	_, hasDelta := jsonedit.Find(raw, "delta")
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"delta"`:
			c.merge(c.child(n, message), nil, val)
		case `"message"`: // from servers that send the complete message so far next to the delta
			if !hasDelta {
				c.merge(c.child(n, message), nil, val)
			}
		default:
			c.merge(c.child(n, name), nameOf(name), val)
		}
	}
}

// at returns the choice with an index.
func (c *choices) at(index int64) *node {
	for _, n := range c.list {
		if n.index == index {
			return n
		}
	}
	c.add(nodeBytes)
	n := &node{kind: objectNode, index: index}
	c.list = append(c.list, n)
	return n
}

// end implements assembly. Some servers omit [DONE].
func (c *choices) end() {}

// body implements assembly. The stream is complete if all choices have finished.
func (c *choices) body() ([]byte, bool) {
	if len(c.list) == 0 {
		return nil, false
	}
	finished := true
	for _, n := range c.list {
		reason := n.find("finish_reason")
		finished = finished && reason != nil && !bytes.Equal(reason.raw, null)
		c.complete(n)
	}
	body := document(&c.top, func(name string) bool { return name == "usage" }, func(w *jsonwriter.Writer) {
		w.Str("object", c.object)
		w.Key("choices").Open('[')
		for _, n := range c.list {
			n.write(w, nil)
		}
		w.Close(']')
		if usage := c.top.find("usage"); usage != nil && !jsonedit.IsNull(usage.raw) {
			w.Raw("usage", usage.raw)
		}
	})
	return body, finished
}

// complete adds members that clients require and some streams omit.
func (c *choices) complete(n *node) {
	message := n.find("message")
	if message == nil || message.kind != objectNode {
		return
	}
	if message.find("role") == nil {
		c.setMember(message, "role", []byte(`"assistant"`))
	}
	if message.find("content") == nil {
		c.setMember(message, "content", null)
	}
}
