package replay

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// chunkMembers are the members of a chat or text completion that every chunk repeats. Further ones
// are in the first chunk only.
var chunkMembers = map[string]bool{
	"id": true, "object": true, "created": true, "model": true, "provider": true, "system_fingerprint": true, "service_tier": true,
}

// longTexts are members of a message that are sent in chunks.
var longTexts = map[string]bool{
	"content": true, "refusal": true, "reasoning_content": true, "reasoning": true, "thinking": true,
}

// choiceStream writes the chunks of a chat or text completion.
type choiceStream struct {
	dst   []byte
	head  []byte // first bytes of every chunk, up to its choices
	first []byte // members of the first chunk only; nil after it
	index []byte // of the choice
}

func streamChat(dst, body []byte, o Options) []byte {
	s := newChoiceStream(dst, body, "chat.completion.chunk")
	return s.write(body, o, s.chatChoice)
}

func streamCompletion(dst, body []byte, o Options) []byte {
	s := newChoiceStream(dst, body, "text_completion")
	return s.write(body, o, s.textChoice)
}

func newChoiceStream(dst, body []byte, object string) *choiceStream {
	s := &choiceStream{dst: dst}
	head, first := jsonwriter.AppendTo([]byte("data: ")), jsonwriter.Writer{}
	head.Open('{')
	head.Str("object", object)
	copyMembers(&head, body, func(name string, val []byte) bool {
		switch {
		case name == "object" || name == "choices" || name == "usage":
		case chunkMembers[name]:
			return false
		default:
			first.Named(name, val)
		}
		return true
	})
	s.head, s.first = head.B, first.B
	return s
}

// write writes all chunks, the usage if it was requested, and the end marker.
func (s *choiceStream) write(body []byte, o Options, choice func(raw []byte)) []byte {
	choices, _ := jsonedit.Find(body, "choices")
	for c := range jsonedit.Elements(choices) {
		if s.index, _ = jsonedit.Find(c, "index"); s.index == nil {
			s.index = []byte("0")
		}
		choice(c)
	}
	if usage, _ := jsonedit.Find(body, "usage"); o.IncludeUsage && !jsonedit.IsNull(usage) {
		s.chunk(func(w *jsonwriter.Writer) {
			w.Raw("choices", emptyList)
			w.Raw("usage", usage)
		})
	}
	return append(s.dst, "data: [DONE]\n\n"...)
}

// chunk writes a chunk whose choices and later members fill writes.
func (s *choiceStream) chunk(fill func(w *jsonwriter.Writer)) {
	s.dst = append(s.dst, s.head...)
	w := jsonwriter.Writer{B: s.dst}
	if len(s.first) > 0 {
		w.B = append(append(w.B, ','), s.first...)
		s.first = nil
	}
	fill(&w)
	w.Close('}')
	s.dst = append(w.B, "\n\n"...)
}

// choice writes a chunk of one choice. fill writes its members after the index.
func (s *choiceStream) choice(fill func(w *jsonwriter.Writer)) {
	s.chunk(func(w *jsonwriter.Writer) {
		w.Key("choices").Open('[')
		w.Open('{')
		w.Raw("index", s.index)
		fill(w)
		w.Close('}')
		w.Close(']')
	})
}

// delta writes a chunk with a delta of the message and no finish reason.
func (s *choiceStream) delta(fill func(w *jsonwriter.Writer)) {
	s.choice(func(w *jsonwriter.Writer) {
		w.Key("delta").Open('{')
		w.Str("role", "assistant")
		fill(w)
		w.Close('}')
		w.Raw("finish_reason", null)
	})
}

// chatChoice writes a choice: the short members of its message, then reasoning, text and tool
// calls, and at last its other members.
func (s *choiceStream) chatChoice(raw []byte) {
	message, _ := jsonedit.Find(raw, "message")
	s.delta(func(w *jsonwriter.Writer) { openMessage(w, message) })
	for _, late := range []bool{false, true} { // reasoning comes before the text
		for name, val := range jsonedit.Members(message) {
			plain, _ := jsonedit.Unquote(name)
			if isLate := plain == "content" || plain == "refusal" || plain == "tool_calls"; isLate == late {
				s.member(plain, val)
			}
		}
	}
	s.choice(func(w *jsonwriter.Writer) {
		w.Key("delta").Open('{')
		w.Close('}')
		copyMembers(w, raw, func(name string, _ []byte) bool { return name == "index" || name == "message" })
	})
}

// openMessage writes the members of the first delta: those that are not sent in chunks. Texts begin
// empty.
func openMessage(w *jsonwriter.Writer, message []byte) {
	copyMembers(w, message, func(name string, val []byte) bool {
		switch {
		case name == "role", name == "tool_calls", name == "content_blocks":
			return true
		case longTexts[name] && isString(val):
			w.Raw(name, emptyText)
			return true
		}
		return false
	})
}

// member writes the chunks of one member of a message.
func (s *choiceStream) member(name string, val []byte) {
	switch {
	case longTexts[name] && isString(val):
		text, _ := jsonedit.Unquote(val)
		chunks(text, func(part string) { s.delta(func(w *jsonwriter.Writer) { w.Str(name, part) }) })
	case name == "tool_calls":
		s.elements(name, val, func(w *jsonwriter.Writer, call []byte) {
			copyMembers(w, call, func(name string, _ []byte) bool { return name == "index" })
		})
	case name == "content_blocks":
		s.elements(name, val, func(w *jsonwriter.Writer, block []byte) {
			w.Key("delta").Open('{')
			copyMembers(w, block, func(name string, _ []byte) bool { return name == "type" || name == "index" })
			w.Close('}')
		})
	}
}

// elements writes a chunk for each element of a list.
func (s *choiceStream) elements(name string, list []byte, fill func(w *jsonwriter.Writer, element []byte)) {
	i := int64(0)
	for element := range jsonedit.Elements(list) {
		s.delta(func(w *jsonwriter.Writer) {
			w.Key(name).Open('[')
			w.Open('{')
			w.Int("index", i)
			fill(w, element)
			w.Close('}')
			w.Close(']')
		})
		i++
	}
}

// textChoice writes a choice of a text completion: its text, and at last its other members.
func (s *choiceStream) textChoice(raw []byte) {
	text := jsonedit.Text(raw, "text")
	chunks(text, func(part string) {
		s.choice(func(w *jsonwriter.Writer) {
			w.Str("text", part)
			w.Raw("logprobs", null)
			w.Raw("finish_reason", null)
		})
	})
	s.choice(func(w *jsonwriter.Writer) {
		w.Raw("text", emptyText)
		copyMembers(w, raw, func(name string, _ []byte) bool { return name == "index" || name == "text" })
	})
}
