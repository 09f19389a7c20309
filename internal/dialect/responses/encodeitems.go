package responses

import (
	"cmp"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/llm"
)

// conversation writes the instructions and the input.
func (w *callWriter) conversation() error {
	list := w.c.Messages
	if text, ok := instructions(list); ok {
		w.Str("instructions", text)
		list = list[1:]
	}
	w.Key("input").Open('[')
	for i := range list {
		m := &list[i]
		var err error
		switch m.Role {
		case llm.RoleAssistant:
			err = w.turn(m)
		case llm.RoleTool:
			err = w.results(m)
		default:
			err = w.message(m, m.Parts, "input_text")
		}
		if err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

// instructions returns the content outside the caller's list of messages, if it is one plain
// text.
func instructions(list []llm.Message) (string, bool) {
	if len(list) == 0 || list[0].Index >= 0 || len(list[0].Parts) != 1 {
		return "", false
	}
	p := &list[0].Parts[0]
	return p.Text, p.Kind == llm.TextPart && p.Cache == nil
}

// turn writes an earlier turn of the model: messages, reasoning and calls, each as a separate
// item, in their order.
func (w *callWriter) turn(m *llm.Message) error {
	for from := 0; from < len(m.Parts); {
		to := from
		for to < len(m.Parts) && inMessage(m.Parts[to].Kind) {
			to++
		}
		if to > from {
			if err := w.message(m, m.Parts[from:to], "output_text"); err != nil {
				return err
			}
			from = to
			continue
		}
		w.writeItem(m, &m.Parts[from])
		from++
	}
	return nil
}

// inMessage reports whether parts of this kind make messages, rather than items of
// their own.
func inMessage(k llm.PartKind) bool {
	switch k {
	case llm.ReasoningPart, llm.SealedPart, llm.CallPart:
		return false
	default:
		return true
	}
}

func (w *callWriter) writeItem(m *llm.Message, p *llm.Part) {
	switch p.Kind {
	case llm.CallPart:
		w.call(m, p)
	case llm.SealedPart:
		if !signatures.Knows(shapeName, p) {
			w.t.Drop(w.c.Path(m, p.Index))
			return
		}
		w.writeReasoning("", p.Text)
	default:
		if signatures.Knows(shapeName, p) {
			w.writeReasoning(p.Text, p.Signature)
			return
		}
		w.t.Drop(signatures.Path(w.c, m, p))
		if p.Text != "" {
			w.writeReasoning(p.Text, "")
		}
	}
}

// writeReasoning writes a reasoning item. Providers that keep nothing need no id in it.
func (w *callWriter) writeReasoning(text, encrypted string) {
	w.Open('{')
	w.Str("type", "reasoning")
	w.Key("summary").Open('[')
	if text != "" {
		w.Open('{')
		w.Str("type", "summary_text")
		w.Str("text", text)
		w.Close('}')
	}
	w.Close(']')
	w.Opt("encrypted_content", encrypted)
	w.Close('}')
}

func (w *callWriter) call(m *llm.Message, p *llm.Part) {
	kind, args := "function_call", "arguments"
	text := p.Call.Arguments
	if p.Call.Custom {
		kind, args = "custom_tool_call", "input"
	} else {
		text = cmp.Or(text, "{}")
	}
	w.Open('{')
	w.Str("type", kind)
	w.Str("call_id", p.Call.ID)
	w.Str("name", p.Call.Name)
	w.Str(args, text)
	w.Close('}')
	if p.Cache != nil {
		w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
	}
	if p.Signature != "" {
		w.t.Drop(w.c.Path(m, p.Index) + ".signature")
	}
}

// results writes each result of a tool call as an item.
func (w *callWriter) results(m *llm.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		kind := "function_call_output"
		if w.isCustom(p.Result.ID) {
			kind = "custom_tool_call_output"
		}
		w.Open('{')
		w.Str("type", kind)
		w.Str("call_id", p.Result.ID)
		w.Key("output")
		if err := w.output(m, p); err != nil {
			return err
		}
		w.Close('}')
		if p.Cache != nil {
			w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
		}
	}
	return nil
}

// output writes a string if the result is only text. The shape has no field for a failed
// call, so the text reports it.
func (w *callWriter) output(m *llm.Message, p *llm.Part) error {
	r := p.Result
	parts := make([]llm.Part, len(r.Parts))
	for i := range r.Parts {
		part, _ := conversation.ResultPart(w.t, w.c, m, p.Index, shapeName, &r.Parts[i])
		parts[i] = *part
	}
	if r.Error {
		parts = failed(parts)
	}
	switch {
	case len(parts) == 0:
		w.Text("")
		return nil
	case len(parts) == 1 && plain(&parts[0]):
		w.Text(parts[0].Text)
		return nil
	}
	w.Open('[')
	for i := range parts {
		if err := w.part(m, &parts[i], "input_text"); err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

func failed(parts []llm.Part) []llm.Part {
	errorPart := llm.Part{Kind: llm.TextPart, Index: -1, Text: "Error: "}
	if len(parts) > 0 && parts[0].Kind == llm.TextPart {
		errorPart.Text += parts[0].Text
		errorPart.Cache, errorPart.Citations, errorPart.Shape = parts[0].Cache, parts[0].Citations, parts[0].Shape
		parts = parts[1:]
	}
	return append([]llm.Part{errorPart}, parts...)
}

// isCustom reports whether the call with that id is of a tool that takes plain text.
func (w *callWriter) isCustom(id string) bool {
	if w.custom == nil {
		w.custom = customCalls(w.c.Messages)
	}
	return w.custom[id]
}

// customCalls says of the calls in a conversation, by their ids, whether they are of such
// tools. Of calls with one id the first counts.
func customCalls(list []llm.Message) map[string]bool {
	known := map[string]bool{}
	for i := range list {
		for k := range list[i].Parts {
			c := list[i].Parts[k].Call
			if c == nil {
				continue
			}
			if _, again := known[c.ID]; !again {
				known[c.ID] = c.Custom
			}
		}
	}
	return known
}
