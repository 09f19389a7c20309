package bedrock

import (
	"context"
	"slices"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

// onlyJSON is the instruction for response_format json_object, for which Converse has no setting.
const onlyJSON = "Answer with one JSON object and nothing else."

// contentWriter writes the system prompt and the messages of a request, with their content blocks.
type contentWriter struct {
	*callBody
	names map[string]int // document names so far, each with the last number appended to it
}

// system writes all system and developer messages, from any position, as a list of texts.
func (w *contentWriter) system() error {
	open := false
	begin := func() {
		if !open {
			w.Key("system").Open('[')
			open = true
		}
	}
	conversation.DropInstructionOrder(w.t, w.c, nil)
	for i := range w.c.Messages {
		m := &w.c.Messages[i]
		if !m.Role.Instructs() {
			continue
		}
		w.dropName(m)
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != llm.TextPart {
				return conversation.RejectUnsupported(w.c, m, p)
			}
			if !conversation.IsBlank(p.Text) {
				begin()
				w.text(p.Text)
			}
			w.dropCitations(m, p)
			switch {
			case p.Cache == nil:
			case open:
				w.cachePoint(p.Cache, w.c.Path(m, p.Index))
			default:
				w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
			}
		}
	}
	if f := w.c.Format; f != nil && f.Type == "json_object" {
		begin()
		w.text(onlyJSON)
	}
	if open {
		w.Close(']')
	}
	return nil
}

// messages writes the turns of the user and of the model, which must alternate. Tool results belong
// to the user, and consecutive messages of one side are joined. Bedrock rejects blank texts, messages
// without content, and conversations without messages.
func (w *contentWriter) messages(ctx context.Context) error {
	w.Key("messages").Open('[')
	empty := len(w.B)
	for i := 0; i < len(w.c.Messages); {
		if w.c.Messages[i].Role.Instructs() {
			i++
			continue
		}
		n, err := w.turn(ctx, w.c.Messages[i:])
		if err != nil {
			return err
		}
		i += n
	}
	if last := len(w.c.Messages) - 1; len(w.B) == empty && last >= 0 {
		return w.refuse(w.c.Path(&w.c.Messages[last], -1), "contains only blank text; this provider requires a non-blank text")
	}
	w.Close(']')
	return nil
}

// turn writes the messages of one side at the start of list and returns how many it consumed. The
// count includes instructions and messages without content in between.
func (w *contentWriter) turn(ctx context.Context, list []llm.Message) (n int, err error) {
	role := w.speaker(list)
	before := w.Writer
	w.Open('{')
	w.Str("role", role)
	w.Key("content").Open('[')
	empty := len(w.B)
	t := turnState{}
	for ; n < len(list); n++ {
		m := &list[n]
		if m.Role.Instructs() {
			continue
		}
		if side(m) != role && !w.silent(m) {
			break
		}
		w.dropName(m)
		for k := range m.Parts {
			if err := w.part(ctx, m, &m.Parts[k], &t); err != nil {
				return n, err
			}
		}
	}
	if t.document != "" && !t.text { // Bedrock requires a text next to a document
		w.text(t.document)
	}
	if w.close(']', before, empty) { // no content, no message
		w.Close('}')
	}
	return n, nil
}

// turnState describes the content of a turn so far.
type turnState struct {
	text     bool
	document string // name of the first document
}

const (
	user      = "user"
	assistant = "assistant"
)

func side(m *llm.Message) string {
	if m.Role == llm.RoleAssistant {
		return assistant
	}
	return user
}

// speaker returns the side of the first message with content.
func (w *contentWriter) speaker(list []llm.Message) string {
	for i := range list {
		if m := &list[i]; !m.Role.Instructs() && !w.silent(m) {
			return side(m)
		}
	}
	return assistant
}

// silent reports whether a message has no content to write.
func (w *contentWriter) silent(m *llm.Message) bool {
	return !slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
		switch p.Kind {
		case llm.TextPart, llm.RefusalPart:
			return !conversation.IsBlank(p.Text)
		case llm.ReasoningPart, llm.SealedPart:
			return w.takes(&p)
		case llm.OpaquePart:
			return m.Role != llm.RoleAssistant // block rejects it
		default:
			return true
		}
	})
}

func (w *contentWriter) dropName(m *llm.Message) {
	if m.Name != "" {
		w.t.Drop(w.c.Path(m, -1) + ".name")
	}
}

func (w *contentWriter) dropCitations(m *llm.Message, p *llm.Part) {
	if len(p.Citations) > 0 {
		w.t.Drop(w.c.Path(m, p.Index) + ".citations")
	}
}

// text writes a text block.
func (w *contentWriter) text(s string) {
	w.Open('{')
	w.Str("text", s)
	w.Close('}')
}
