package anthropic

import (
	"slices"

	"sluice/internal/llm"
)

// turn is what one side says before the other does: Anthropic joins messages of one
// role, and wants what tools came to in the turn right behind the calls, before all
// else that the user says.
type turn struct {
	role    llm.Role // user, assistant, or system between the turns
	results []said
	rest    []said
	from    []*llm.Message
}

// said is a part and the message that it stands in.
type said struct {
	m *llm.Message
	p *llm.Part
}

// conversation writes the instructions and the turns.
func (w *callWriter) conversation() error {
	system, turns := w.sides()
	if err := w.system(system); err != nil {
		return err
	}
	w.Key("messages").Open('[')
	for i := range turns {
		if err := w.turn(&turns[i]); err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

// sides sorts the messages into instructions and turns. Instructions in the middle of
// a conversation, which newer models take, stay there when the caller speaks the
// shape; all others are collected.
// Source: contract/provider-transforms.md 2.1.
func (w *callWriter) sides() (system []said, turns []turn) {
	for i := range w.c.Messages {
		m := &w.c.Messages[i]
		if m.Name != "" {
			w.t.Lose(w.c.Path(m, -1) + ".name")
		}
		role := m.Role
		switch m.Role {
		case llm.RoleTool:
			role = llm.RoleUser
		case llm.RoleSystem, llm.RoleDeveloper:
			if role = llm.RoleSystem; m.Index < 0 || !w.native() {
				system = add(system, m)
				continue
			}
		case llm.RoleUser, llm.RoleAssistant:
		}
		if n := len(turns); n == 0 || turns[n-1].role != role {
			turns = append(turns, turn{role: role})
		}
		t := &turns[len(turns)-1]
		t.from = append(t.from, m)
		if m.Role == llm.RoleTool {
			t.results = add(t.results, m)
		} else {
			t.rest = add(t.rest, m)
		}
	}
	return system, turns
}

func add(list []said, m *llm.Message) []said {
	for i := range m.Parts {
		list = append(list, said{m, &m.Parts[i]})
	}
	return list
}

func (w *callWriter) system(list []said) error {
	if len(list) == 0 && !wantsJSON(w.c) {
		return nil
	}
	before := w.JSON
	w.Key("system").Open('[')
	empty := len(w.B)
	if err := w.blocks(list); err != nil {
		return err
	}
	if wantsJSON(w.c) {
		w.textBlock(&llm.Part{Text: onlyJSON})
	}
	w.Close(']')
	if len(w.B) == empty+1 {
		w.JSON = before
	}
	return nil
}

// turn writes a message, unless nothing is left of it. A plain string stays one.
func (w *callWriter) turn(t *turn) error {
	before := w.JSON
	w.Open('{')
	w.Str("role", string(t.role))
	w.Key("content")
	if text, ok := t.plain(); ok {
		w.Text(text)
	} else {
		w.Open('[')
		empty := len(w.B)
		if err := w.blocks(slices.Concat(t.results, t.rest)); err != nil {
			return err
		}
		w.Close(']')
		if len(w.B) == empty+1 {
			w.JSON = before
			return nil
		}
	}
	if w.native() {
		for _, m := range t.from {
			for _, p := range w.t.TakeAll(m.Extra) {
				w.Raw(p.Name, p.Raw)
			}
		}
	}
	w.Close('}')
	return nil
}

// plain is the text of a user's turn that is nothing but a string.
func (t *turn) plain() (string, bool) {
	if t.role == llm.RoleAssistant || len(t.results) > 0 || len(t.rest) != 1 {
		return "", false
	}
	p := t.rest[0].p
	return p.Text, p.Kind == llm.TextPart && p.Index < 0 && p.Cache == nil && p.Text != ""
}

func (w *callWriter) blocks(list []said) error {
	for _, s := range list {
		if err := w.block(s.m, s.p); err != nil {
			return err
		}
	}
	return nil
}
