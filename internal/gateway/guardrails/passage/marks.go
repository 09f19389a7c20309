package passage

import "sluice/internal/kernel/jsonedit"

// marks are the members of an object that decide about the texts of its other members, whatever
// their order.
type marks struct {
	rule     *rule
	start    int // offset of the object
	passages int // numbers before the object
	groups   int

	role, typ        string
	reasoning        bool // a part of Google's with "thought": true
	signed           bool
	content          bool // it has content or tool calls
	nullFrom, nullTo int  // content that is null
}

// read reads a member if it is a mark. The other members are texts.
func (m *marks) read(w *walker, key []byte) bool {
	kind := w.r.Kind()
	switch string(key) {
	case "role":
		m.role, _ = jsonedit.Unquote(w.r.Raw())
	case "type":
		m.typ, _ = jsonedit.Unquote(w.r.Raw())
	case "thought":
		m.reasoning = m.reasoning || kind == 't'
		return false
	case m.rule.signature:
		m.signed = m.signed || kind == '"' && len(w.r.Raw()) > len(`""`)
	case "content":
		if kind == 'n' {
			m.nullFrom = w.offset()
			m.nullTo = m.nullFrom + len("null")
		}
		m.content = m.content || kind != 'n'
		return false
	case "toolcalls", "functioncall":
		m.content = m.content || kind != 'n'
		return false
	default:
		return false
	}
	return true
}

// apply completes the passages of the object.
func (m *marks) apply(w *walker, a around) {
	var role Role
	if m.rule.authored {
		role = m.author()
	}
	for i := m.passages; i < len(w.passages); i++ {
		p := &w.passages[i]
		if p.Role == "" {
			p.Role = role
		}
		switch {
		case p.Kind != Text || a.kind != "":
		case m.reasoning || m.typ == "reasoning":
			p.Kind = Reasoning
		case p.Role == Tool:
			p.Kind = Result
		}
	}
	if m.rule.media && m.typ == "text" {
		w.setMedia(m.passages, false)
	}
	if m.signed && m.rule.signature != "" && (m.reasoning || !m.rule.reasons) {
		w.sign(m.start, m.passages)
	}
	if !m.content {
		m.fill(w)
	}
}

// author returns the role of the object. Items of Responses without a role have it by their type.
func (m *marks) author() Role {
	switch m.role {
	case "system", "developer":
		return System
	case "assistant", "model":
		return Assistant
	case "tool", "function":
		return Tool
	case "":
		if m.typ != "" && m.typ != "message" {
			return Assistant
		}
	}
	return User
}

// fill prepares a text for a message without content that loses all its reasoning.
func (m *marks) fill(w *walker) {
	e := edit{start: m.nullFrom, end: m.nullTo, with: []byte(`"[removed]"`)}
	if m.nullTo == 0 {
		e = edit{start: m.start + 1, end: m.start + 1, with: []byte(`"content":"[removed]",`)}
	}
	for i := m.groups; i < len(w.groups); i++ {
		if g := &w.groups[i]; g.extra {
			g.fill = e
		}
	}
}
