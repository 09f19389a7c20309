package conversation

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// Messages writes a conversation for shapes similar to chat completions: one list of messages,
// with a separate message for each tool result. It belongs to one request.
type Messages struct {
	W *jsonwriter.Writer
	T *llm.FieldTracker
	C *llm.Call
	// Turn writes a user message or a system message; role is "user" or "system".
	Turn func(m *llm.Message, role string, parts []llm.Part) error
	// Assistant writes an assistant message.
	Assistant func(m *llm.Message) error
	// Named means that results contain the name of their tool.
	Named bool

	aside DeferredContent
}

// Write writes the member messages. It reports names of participants as dropped. Errors are those
// of Turn, of Assistant and of ReadResult.
func (s *Messages) Write() error {
	s.W.Key("messages").Open('[')
	if err := s.aside.Flush(s.C.Messages, s.message, s.writeDeferred); err != nil {
		return err
	}
	s.W.Close(']')
	return nil
}

func (s *Messages) writeDeferred(m *llm.Message, parts []llm.Part) error {
	return s.Turn(m, "user", parts)
}

func (s *Messages) message(m *llm.Message) error {
	if m.Name != "" {
		s.T.Drop(s.C.Path(m, -1) + ".name")
	}
	switch m.Role {
	case llm.RoleAssistant:
		return s.Assistant(m)
	case llm.RoleTool:
		return s.results(m)
	case llm.RoleUser:
		return s.Turn(m, "user", m.Parts)
	default:
		return s.Turn(m, "system", m.Parts)
	}
}

// results writes each tool result as a message. Images, which a result cannot contain, follow in
// a user message.
func (s *Messages) results(m *llm.Message) error {
	for i := range m.Parts {
		text, images, err := ReadResult(s.T, s.C, m, &m.Parts[i])
		if err != nil {
			return err
		}
		s.aside.Add(m, images)
		r := m.Parts[i].Result
		s.W.Open('{')
		s.W.Str("role", "tool")
		s.W.Str("tool_call_id", r.ID)
		if s.Named {
			s.W.Opt("name", r.Name)
		}
		s.W.Str("content", text)
		s.W.Close('}')
	}
	return nil
}
