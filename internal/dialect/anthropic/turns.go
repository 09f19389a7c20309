package anthropic

import (
	"sluice/internal/dialect/claude"
	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// turnWriter writes the system prompt and the turns of a conversation.
type turnWriter struct {
	*callBody
	content contentWriter
	stay    map[int]bool // indexes of instructions that stay in the middle of the conversation
}

// conversation writes the instructions and the turns.
func (w *turnWriter) conversation() error {
	w.dropNames()
	if !w.native() {
		if w.model.TakesSystem() {
			w.stay = claude.MidConversationInstructions(w.c)
		}
		conversation.DropInstructionOrder(w.t, w.c, w.stay)
	}
	if err := w.system(); err != nil {
		return err
	}
	w.Key("messages").Open('[')
	for left := w.c.Messages; len(left) > 0; {
		t := w.next(left)
		if err := w.turn(t); err != nil {
			return err
		}
		left = left[len(t.list):]
	}
	w.Close(']')
	return nil
}

// dropNames reports message names as dropped, because Anthropic does not support them.
func (w *turnWriter) dropNames() {
	for i := range w.c.Messages {
		if m := &w.c.Messages[i]; m.Name != "" {
			w.t.Drop(w.c.Path(m, -1) + ".name")
		}
	}
}

// side returns the role of the turn that a message belongs to: user, assistant, or system
// between the turns. It returns "" for instructions that go to the system field. Instructions in
// the middle of a conversation stay there when the caller is native or when the model accepts them
// at that point. All others are collected in the system field, and reported as moved.
// Source: contract/provider-transforms.md 2.1.
func (w *turnWriter) side(m *llm.Message) llm.Role {
	switch m.Role {
	case llm.RoleSystem, llm.RoleDeveloper:
		if m.Index >= 0 && (w.native() || w.stays(m)) {
			return llm.RoleSystem
		}
		return ""
	case llm.RoleTool, llm.RoleUser:
		return llm.RoleUser
	case llm.RoleAssistant:
	}
	return m.Role
}

// stays reports whether instructions of a caller of another surface remain at their position.
func (w *turnWriter) stays(m *llm.Message) bool {
	for i := range w.stay {
		if &w.c.Messages[i] == m {
			return true
		}
	}
	return false
}

// turn is a run of messages of one role. Anthropic joins messages of one role. It requires tool
// results in the turn that directly follows the calls, before all other content of the user.
type turn struct {
	role llm.Role      // "" if the list contains only instructions
	list []llm.Message // includes instructions in between
}

// next returns the turn at the start of list.
func (w *turnWriter) next(list []llm.Message) turn {
	t := turn{role: w.side(&list[0])}
	n := 1
	for ; n < len(list); n++ {
		if role := w.side(&list[n]); role != "" && role != t.role {
			break
		}
	}
	t.list = list[:n]
	return t
}

// system writes the instructions from all positions of the conversation.
func (w *turnWriter) system() error {
	before := w.Writer
	w.Key("system").Open('[')
	empty := len(w.B)
	for i := range w.c.Messages {
		if m := &w.c.Messages[i]; w.side(m) == "" {
			if err := w.blocks(m); err != nil {
				return err
			}
		}
	}
	if wantsJSON(w.c) {
		w.content.textBlock(&llm.Part{Text: onlyJSON})
	}
	w.close(before, empty)
	return nil
}

// close ends a list, or removes it when it is empty.
func (w *callBody) close(before jsonwriter.Writer, empty int) (nonEmpty bool) {
	if len(w.B) == empty {
		w.Writer = before
		return false
	}
	w.Close(']')
	return true
}

// turn writes a message, unless nothing remains of it. A plain string remains a string.
func (w *turnWriter) turn(t turn) error {
	if t.role == "" {
		return nil
	}
	before := w.Writer
	w.Open('{')
	w.Str("role", string(t.role))
	w.Key("content")
	if text, ok := w.plain(t); ok {
		w.Text(text)
	} else {
		w.Open('[')
		empty := len(w.B)
		if err := w.writeTurnBlocks(t); err != nil {
			return err
		}
		if !w.close(before, empty) {
			return nil
		}
	}
	if w.native() {
		for i := range t.list {
			for _, p := range w.t.TakeAll(t.list[i].Extra) {
				w.Named(p.Name, p.Raw)
			}
		}
	}
	w.Close('}')
	return nil
}

// plain returns the text of a user's turn that is only a string.
func (w *turnWriter) plain(t turn) (string, bool) {
	if t.role == llm.RoleAssistant {
		return "", false
	}
	var only *llm.Part
	for i := range t.list {
		m := &t.list[i]
		if w.side(m) == "" || len(m.Parts) == 0 {
			continue
		}
		if only != nil || len(m.Parts) > 1 || m.Role == llm.RoleTool {
			return "", false
		}
		only = &m.Parts[0]
	}
	if only == nil || only.Kind != llm.TextPart || only.Index >= 0 || only.Cache != nil {
		return "", false
	}
	return only.Text, !conversation.IsBlank(only.Text)
}

// writeTurnBlocks writes the blocks of a turn, tool results first.
func (w *turnWriter) writeTurnBlocks(t turn) error {
	for _, results := range [...]bool{true, false} {
		for i := range t.list {
			m := &t.list[i]
			if w.side(m) == "" || (m.Role == llm.RoleTool) != results {
				continue
			}
			if err := w.blocks(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *turnWriter) blocks(m *llm.Message) error {
	for i := range m.Parts {
		if err := w.content.block(m, &m.Parts[i]); err != nil {
			return err
		}
	}
	return nil
}
