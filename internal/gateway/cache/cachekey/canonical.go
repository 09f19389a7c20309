package cachekey

import (
	"bytes"
	"slices"

	"sluice/internal/kernel/jsonedit"
)

// canonicalizer writes JSON objects in their canonical form: without white space, the members of
// each object sorted by their raw names, and numbers and texts as they were written. Members that
// do not count are omitted. Of duplicate members, all remain in their order.
type canonicalizer struct {
	dst     []byte
	src     []byte
	pos     int
	vary    []string
	members []member // of all open objects, the innermost last
	sorted  []byte   // buffer in which members change their order
}

// member is one member of an open object: its positions in dst.
type member struct {
	from int // start of the name
	name int // end of the name
	to   int // end of the value and its comma
}

// scope is where in the body a value is. It decides which members are omitted.
type scope int

const (
	inner    scope = iota
	root           // the body
	metadata       // the object "metadata" of the body
	system         // the list "system" of the body: Anthropic's instructions
	block          // an element of that list
)

// append appends the canonical form of body. It returns false if body is not a JSON object within
// the limits of jsonedit.Scan; what it appended is then without meaning.
func (c *canonicalizer) append(dst, body []byte, vary []string) ([]byte, bool) {
	if !jsonedit.Valid(body) {
		return dst, false
	}
	c.dst, c.src, c.pos, c.vary = dst, body, 0, vary
	c.value(root)
	return c.dst, true
}

// reset drops all references to a call.
func (c *canonicalizer) reset() {
	c.dst, c.src, c.vary = nil, nil, nil
	c.members = c.members[:0]
	if cap(c.sorted) > maxPooled {
		c.sorted = nil
	}
}

// value copies one value. The text was checked before, so there is always a value, and the depth
// is bounded by jsonedit.MaxDepth.
func (c *canonicalizer) value(in scope) {
	c.space()
	switch c.src[c.pos] {
	case '{':
		c.object(in)
	case '[':
		c.array(in)
	case '"':
		c.string()
	default:
		start := c.pos
		for c.pos < len(c.src) && bytes.IndexByte([]byte(",]} \t\r\n"), c.src[c.pos]) < 0 {
			c.pos++
		}
		c.dst = append(c.dst, c.src[start:c.pos]...)
	}
}

func (c *canonicalizer) space() {
	for c.pos < len(c.src) && (c.src[c.pos] == ' ' || c.src[c.pos] == '\n' || c.src[c.pos] == '\t' || c.src[c.pos] == '\r') {
		c.pos++
	}
}

// string copies a string with its quotes.
func (c *canonicalizer) string() {
	start := c.pos
	c.pos++
	for {
		n := bytes.IndexByte(c.src[c.pos:], '"')
		quote, slashes := c.pos+n, 0
		for c.src[quote-1-slashes] == '\\' {
			slashes++
		}
		c.pos = quote + 1
		if slashes%2 == 0 {
			break
		}
	}
	c.dst = append(c.dst, c.src[start:c.pos]...)
}

func (c *canonicalizer) array(in scope) {
	element := inner
	if in == system {
		element = block
	}
	c.dst = append(c.dst, '[')
	c.pos++
	for c.next(']') {
		start := len(c.dst)
		c.value(element)
		if element == block && attributed(c.dst[start:]) {
			c.dst = c.dst[:start]
			continue
		}
		c.dst = append(c.dst, ',')
	}
	c.dst = append(c.dst, ']')
}

// attributed reports whether an instruction in canonical form is the attribution of an agent alone: short
// values without spaces, so that nothing in it instructs the model.
func attributed(canonical []byte) bool {
	found := 0
	for name, value := range jsonedit.Members(canonical) {
		switch string(name) {
		case `"text"`:
			if found++; !attribution.Match(value) {
				return false
			}
		case `"type"`, `"cache_control"`:
		default:
			return false
		}
	}
	return found == 1
}

// next advances to the next element or member, and returns false after the last one.
func (c *canonicalizer) next(end byte) bool {
	c.space()
	if c.src[c.pos] == ',' {
		c.pos++
		c.space()
	}
	if c.src[c.pos] != end {
		return true
	}
	c.pos++
	return false
}

func (c *canonicalizer) object(in scope) {
	first := len(c.members)
	c.dst = append(c.dst, '{')
	c.pos++
	start := len(c.dst)
	for c.next('}') {
		c.member(in)
	}
	c.sort(first, start)
	c.members = c.members[:first]
	c.dst = append(c.dst, '}')
}

// member copies one member with a comma after it, unless it does not count.
func (c *canonicalizer) member(in scope) {
	m := member{from: len(c.dst)}
	c.string()
	m.name = len(c.dst)
	name := c.dst[m.from:m.name]
	counts, child := c.counts(in, name), childScope(in, name)
	c.space()
	c.pos++ // the colon
	c.dst = append(c.dst, ':')
	c.value(child)
	if !counts {
		c.dst = c.dst[:m.from]
		return
	}
	c.dst = append(c.dst, ',')
	m.to = len(c.dst)
	c.members = append(c.members, m)
}

// counts reports whether a member with that raw name counts.
func (c *canonicalizer) counts(in scope, raw []byte) bool {
	if in != root && in != metadata {
		return true
	}
	name := raw[1 : len(raw)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = jsonedit.AppendUnquoted(nil, raw)
	}
	switch {
	case in == metadata:
		return !ignoredFields[string(name)] || c.varies("metadata.", name)
	case streamMembers[string(name)]:
		return false
	}
	return !ignoredMembers[string(name)] || c.varies("", name)
}

// varies reports whether Vary names the member.
func (c *canonicalizer) varies(prefix string, name []byte) bool {
	return slices.Contains(c.vary, prefix+string(name))
}

func childScope(in scope, name []byte) scope {
	switch {
	case in != root:
		return inner
	case string(name) == `"metadata"`:
		return metadata
	case string(name) == `"system"`:
		return system
	}
	return inner
}

// sort puts the members of the object that begins at start in the order of their names.
func (c *canonicalizer) sort(first, start int) {
	list := c.members[first:]
	order := func(a, b member) int { return bytes.Compare(c.dst[a.from:a.name], c.dst[b.from:b.name]) }
	if slices.IsSortedFunc(list, order) {
		return
	}
	slices.SortStableFunc(list, order)
	c.sorted = c.sorted[:0]
	for _, m := range list {
		c.sorted = append(c.sorted, c.dst[m.from:m.to]...)
	}
	copy(c.dst[start:], c.sorted)
}
