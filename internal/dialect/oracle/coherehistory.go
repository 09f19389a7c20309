package oracle

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

// conversation writes the preamble, the earlier turns and the last turn: the user's prompt,
// or the results of tool calls.
func (w *cohereWriter) conversation() error {
	list, err := w.preamble(w.c.Messages)
	if err != nil {
		return err
	}
	last := len(list)
	for last > 0 && list[last-1].Role == llm.RoleTool {
		last--
	}
	if last == len(list) && last > 0 && list[last-1].Role == llm.RoleUser {
		last--
	}
	if last > 0 {
		w.Key("chatHistory").Open('[')
		for i := range list[:last] {
			if err := w.turn(&list[i]); err != nil {
				return err
			}
		}
		w.Close(']')
	}
	return w.writeLastTurn(list[last:])
}

// writeLastTurn writes the last turn. The message is required, and is empty next to results.
func (w *cohereWriter) writeLastTurn(list []llm.Message) (err error) {
	text := ""
	if len(list) > 0 && list[0].Role == llm.RoleUser {
		text, err = w.text(&list[0])
		list = nil
	}
	if err != nil {
		return err
	}
	w.Str("message", text)
	if len(list) == 0 {
		return nil
	}
	w.Key("toolResults").Open('[')
	for i := range list {
		if err := w.results(&list[i]); err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

// preamble writes the leading system messages and returns the rest.
func (w *cohereWriter) preamble(list []llm.Message) ([]llm.Message, error) {
	var texts []string
	for len(list) > 0 && list[0].Role.Instructs() {
		text, err := w.text(&list[0])
		if err != nil {
			return nil, err
		}
		texts, list = append(texts, text), list[1:]
	}
	if len(texts) > 0 {
		w.Str("preambleOverride", strings.Join(texts, "\n"))
	}
	return list, nil
}

// turn writes one turn of the history.
func (w *cohereWriter) turn(m *llm.Message) error {
	if m.Role == llm.RoleAssistant {
		return w.writeAssistant(m)
	}
	w.Open('{')
	defer w.Close('}')
	if m.Role == llm.RoleTool {
		w.Str("role", "TOOL")
		w.Key("toolResults").Open('[')
		defer w.Close(']')
		return w.results(m)
	}
	text, err := w.text(m)
	w.Str("role", roles[m.Role])
	w.Str("message", text)
	return err
}

// text returns the text of a user or system message. The format does not support media.
func (w *cohereWriter) text(m *llm.Message) (string, error) {
	w.unnamed(m)
	var texts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		conversation.DropCacheControl(w.t, w.c, m, p)
		text, ok := conversation.PartText(p)
		if !ok {
			return "", conversation.RejectUnsupported(w.c, m, p)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// unnamed reports a speaker's name as dropped, because Cohere's formats do not support it.
func (w *writer) unnamed(m *llm.Message) {
	if m.Name != "" {
		w.t.Drop(w.c.Path(m, -1) + ".name")
	}
}

// writeAssistant writes an earlier message of the model. Reasoning is not supported.
func (w *cohereWriter) writeAssistant(m *llm.Message) error {
	w.unnamed(m)
	s, err := conversation.ReadAssistantMessage(w.t, w.c, m)
	if err != nil {
		return err
	}
	for _, p := range s.Reasoning {
		w.t.Drop(w.c.Path(m, p.Index))
	}
	if len(s.Texts)+len(s.Calls) == 0 && len(m.Parts) > 0 {
		return nil // all of it is dropped and reported
	}
	w.Open('{')
	w.Str("role", "CHATBOT")
	w.Str("message", strings.Join(s.Texts, "\n"))
	if len(s.Calls) > 0 {
		w.Key("toolCalls").Open('[')
		for _, c := range s.Calls {
			if err := w.call(m, c); err != nil {
				return err
			}
			w.calls[c.ID] = c
		}
		w.Close(']')
	}
	w.Close('}')
	return nil
}

// call writes a tool call. Only its name and arguments distinguish it from other calls.
func (w *cohereWriter) call(m *llm.Message, c *llm.ToolCall) error {
	w.Open('{')
	w.Str("name", c.Name)
	if !w.Arguments("parameters", c.Arguments) {
		w.t.Drop(w.c.Path(m, -1) + ".tool_calls")
	}
	w.Close('}')
	return nil
}

// results writes the results of tool calls, each with its call.
func (w *cohereWriter) results(m *llm.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		text, images, err := conversation.ReadResult(w.t, w.c, m, p)
		switch {
		case err != nil:
			return err
		case len(images) > 0:
			return conversation.RejectUnsupported(w.c, m, &images[0])
		}
		call := w.calls[p.Result.ID]
		if call == nil { // chat's older function messages have only a name
			call = &llm.ToolCall{Name: p.Result.Name}
		}
		w.Open('{')
		w.Key("call")
		if err := w.call(m, call); err != nil {
			return err
		}
		w.Key("outputs").Open('[')
		w.Open('{')
		w.Str("output", text)
		w.Close('}')
		w.Close(']')
		w.Close('}')
	}
	return nil
}
