package bedrock

import (
	"context"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/llm"
)

// onlyJSON asks for what Converse has no setting for: response_format json_object.
const onlyJSON = "Answer with one JSON object and nothing else."

// system writes what the system and the developer say, wherever they say it: a list of
// texts.
func (w *callWriter) system() error {
	open := false
	begin := func() {
		if !open {
			w.Key("system").Open('[')
			open = true
		}
	}
	dialect.DropInstructionOrder(w.t, w.c, nil)
	for i := range w.c.Messages {
		m := &w.c.Messages[i]
		if !m.Role.Instructs() {
			continue
		}
		w.dropName(m)
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != llm.TextPart {
				return dialect.RejectUnsupported(w.c, m, p)
			}
			if !dialect.IsBlank(p.Text) {
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

// messages writes the turns of the user and of the model, which must take turns: what
// tools came to is the user's, and messages of one side that follow each other are one. Bedrock
// takes neither blank texts nor messages without content, and no conversation without messages.
func (w *callWriter) messages(ctx context.Context) error {
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

// turn writes the messages of one side that list begins with and returns how many they
// are, those of the system and those that say nothing in between included.
func (w *callWriter) turn(ctx context.Context, list []llm.Message) (n int, err error) {
	role := w.speaker(list)
	before := w.JSON
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
	if t.document != "" && !t.text { // Bedrock wants a text beside a document
		w.text(t.document)
	}
	if w.close(']', before, empty) { // unless nothing was said that counts
		w.Close('}')
	}
	return n, nil
}

// turnState is what a turn holds so far.
type turnState struct {
	text     bool
	document string // name of the first
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

// speaker is the side of the first message that says something.
func (w *callWriter) speaker(list []llm.Message) string {
	for i := range list {
		if m := &list[i]; !m.Role.Instructs() && !w.silent(m) {
			return side(m)
		}
	}
	return assistant
}

// silent reports whether nothing is left of a message.
func (w *callWriter) silent(m *llm.Message) bool {
	return !slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
		switch p.Kind {
		case llm.TextPart, llm.RefusalPart:
			return !dialect.IsBlank(p.Text)
		case llm.ReasoningPart, llm.SealedPart:
			return w.takes(&p)
		case llm.OpaquePart:
			return m.Role != llm.RoleAssistant // and is refused
		default:
			return true
		}
	})
}

func (w *callWriter) dropName(m *llm.Message) {
	if m.Name != "" {
		w.t.Drop(w.c.Path(m, -1) + ".name")
	}
}

func (w *callWriter) dropCitations(m *llm.Message, p *llm.Part) {
	if len(p.Citations) > 0 {
		w.t.Drop(w.c.Path(m, p.Index) + ".citations")
	}
}

// text writes a block of text.
func (w *callWriter) text(s string) {
	w.Open('{')
	w.Str("text", s)
	w.Close('}')
}

// cachePoint writes the mark behind what shall be kept, which stands at that place.
func (w *callWriter) cachePoint(c *llm.Cache, path string) {
	if !w.caches {
		w.t.Drop(path + ".cache_control")
		return
	}
	w.Open('{')
	w.Key("cachePoint").Open('{')
	w.Str("type", "default")
	w.Opt("ttl", c.TTL)
	w.Close('}')
	w.Close('}')
}
