package gemini

import (
	"cmp"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/llm"
)

// Roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

// ofTools is the internal role of tool results, which form a separate content. Gemini requires the
// role "user" for it. It formerly supported a role "function" and now rejects that with
// "Please use a valid role: user, model".
// Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1beta1/Content, read 2026-11.
const ofTools = "results of tools"

// turns is the writer's position in the conversation.
type turns struct {
	role   string         // role of the open content, or ofTools; "" if none is open
	called bool           // the open content contains a call
	after  []pendingMedia // media of tool results, for the user content that follows them
}

type pendingMedia struct {
	m *llm.Message
	p *llm.Part
}

// contentWriter writes the contents of a request: turns with their parts, and instructions.
type contentWriter struct {
	*callBody
	turn turns
}

// conversation writes systemInstruction and contents. Consecutive messages of one role become one
// content. The results of parallel calls are then in one content, as Gemini requires.
func (w *contentWriter) conversation() error {
	if w.m.supportsSystemInstruction() {
		if err := w.instructions(); err != nil {
			return err
		}
	}
	w.Key("contents").Open('[')
	for i := range w.c.Messages {
		if err := w.message(&w.c.Messages[i]); err != nil {
			return err
		}
	}
	if err := w.writeDeferred(); err != nil {
		return err
	}
	w.end()
	w.Close(']')
	return nil
}

// instructions writes the text of all system and developer messages, from any position.
func (w *contentWriter) instructions() error {
	open := false
	instruct := func(text string) {
		if !open {
			w.Key("systemInstruction").Open('{')
			w.Str("role", "system")
			w.Key("parts").Open('[')
			open = true
		}
		w.text(text, "", false)
	}
	conversation.DropInstructionOrder(w.t, w.c, nil)
	for i := range w.c.Messages {
		m := &w.c.Messages[i]
		if !m.Role.Instructs() {
			continue
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			w.dropMarks(m, p)
			if p.Kind != llm.TextPart {
				w.t.Drop(w.c.Path(m, p.Index))
				continue
			}
			if p.Text != "" {
				instruct(p.Text)
			}
		}
	}
	if w.asksForJSON() {
		instruct(jsonInstruction(w.c.Format))
	}
	if open {
		w.Close(']')
		w.Close('}')
	}
	return nil
}

func (w *contentWriter) message(m *llm.Message) error {
	if m.Name != "" {
		w.t.Drop(w.c.Path(m, -1) + ".name")
	}
	if !w.m.mergesSameRole() {
		w.end()
	}
	switch {
	case m.Role == llm.RoleTool:
		return w.results(m)
	case m.Role.Instructs() && w.m.supportsSystemInstruction():
		return nil
	case m.Role == llm.RoleAssistant:
		return w.assistant(m)
	}
	if err := w.writeDeferred(); err != nil {
		return err
	}
	for i := range m.Parts {
		if err := w.part(roleUser, m, &m.Parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// assistant writes an assistant message, including text before its calls.
func (w *contentWriter) assistant(m *llm.Message) error {
	if err := w.writeDeferred(); err != nil {
		return err
	}
	calls := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != llm.CallPart {
			if err := w.part(roleModel, m, p); err != nil {
				return err
			}
			continue
		}
		if err := w.call(m, p, calls); err != nil {
			return err
		}
		calls++
	}
	return nil
}

// begin opens a content of that role, or ofTools, unless one is open.
func (w *contentWriter) begin(role string) {
	if w.turn.role == role {
		return
	}
	w.end()
	w.turn.role, w.turn.called = role, false
	if role == ofTools {
		role = roleUser
	}
	w.Open('{')
	w.Str("role", role)
	w.Key("parts").Open('[')
}

func (w *contentWriter) end() {
	if w.turn.role != "" {
		w.Close(']')
		w.Close('}')
		w.turn.role = ""
	}
}

// writeDeferred writes the media of tool results into the user content that follows them.
func (w *contentWriter) writeDeferred() error {
	left := w.turn.after
	w.turn.after = nil
	for _, l := range left {
		if err := w.part(roleUser, l.m, l.p); err != nil {
			return err
		}
	}
	return nil
}

// unsigned replaces the signature of a call that another model made. Without a signature the newest
// models reject the conversation. Only the first call of a step is signed.
// Source: https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11.
const unsigned = "skip_thought_signature_validator"

// call writes a call that the model made, the k-th of its message.
func (w *contentWriter) call(m *llm.Message, p *llm.Part, k int) error {
	args, ok := jsonwriter.ArgumentsObject(p.Call.Arguments)
	switch {
	case p.Call.Custom:
		args = []byte(freeText(p.Call.Arguments))
	case !ok:
		w.t.Drop(w.argumentsAt(m, p, k))
	}
	w.dropMarks(m, p)
	w.begin(roleModel)
	signature := cmp.Or(p.Signature, p.EmbeddedSignature)
	if signature == "" && !w.turn.called && w.m.requiresSignatures() {
		signature = unsigned
	}
	w.turn.called = true
	w.Open('{')
	w.Key("functionCall").Open('{')
	w.Opt("id", p.Call.ID)
	w.Str("name", p.Call.Name)
	w.Raw("args", args)
	w.Close('}')
	w.Opt("thoughtSignature", signature)
	w.Close('}')
	return nil
}

// argumentsAt returns the path of a call's arguments in the format of the caller's surface.
func (w *contentWriter) argumentsAt(m *llm.Message, p *llm.Part, k int) string {
	switch w.c.Surface {
	case llm.Messages:
		return w.c.Path(m, p.Index) + ".input"
	case llm.CreateModelResponse:
		return w.c.Path(m, -1) + ".arguments"
	default:
		return fields.ElementPath(w.c.Path(m, -1)+".tool_calls", k) + ".function.arguments"
	}
}
