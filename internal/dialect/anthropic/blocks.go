package anthropic

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// contentWriter writes the content blocks of a turn.
type contentWriter struct{ *callBody }

// block writes a part as a block. It drops reasoning without a signature from Claude, which
// Anthropic would reject, and parts that belong to other providers.
// Source: contract/provider-transforms.md 2.1, 2.2, 9.1.
func (w *contentWriter) block(m *llm.Message, p *llm.Part) error {
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart:
		w.text(m, p)
	case llm.ImagePart, llm.FilePart:
		return w.media(m, p)
	case llm.ReasoningPart, llm.SealedPart:
		w.writeReasoning(m, p)
	case llm.CallPart:
		return w.call(m, p)
	case llm.ResultPart:
		return w.result(m, p)
	case llm.OpaquePart:
		switch {
		case p.Shape == shapeName:
			w.Value(p.Raw)
		case m.Role == llm.RoleAssistant:
			w.t.Drop(w.c.Path(m, p.Index))
		default:
			return conversation.RejectUnsupported(w.c, m, p)
		}
	default:
		return conversation.RejectUnsupported(w.c, m, p)
	}
	return nil
}

// writeReasoning writes Claude's earlier reasoning, as text or redacted.
func (w *contentWriter) writeReasoning(m *llm.Message, p *llm.Part) {
	switch {
	case !signatures.IsClaude(p):
		w.t.Drop(w.c.Path(m, p.Index))
		return
	case p.Kind == llm.SealedPart:
		w.open("redacted_thinking")
		w.Str("data", p.Text)
	default:
		w.open("thinking")
		w.Str("thinking", p.Text)
		w.Str("signature", p.Signature)
	}
	w.shut(p)
}

func (w *callBody) open(typ string) {
	w.Open('{')
	w.Str("type", typ)
}

// shut ends a block with its cache mark and, for native callers, its extra members.
func (w *callBody) shut(p *llm.Part) {
	w.cache(p.Cache)
	if w.native() {
		for _, x := range w.t.TakeAll(p.Extra) {
			w.Named(x.Name, x.Raw)
		}
	}
	w.Close('}')
}

// text writes a text block. It omits blank texts, which Anthropic rejects.
func (w *contentWriter) text(m *llm.Message, p *llm.Part) {
	if len(p.Citations) > 0 && p.Shape != shapeName {
		w.t.Drop(w.c.Path(m, p.Index) + ".citations")
	}
	if !conversation.IsBlank(p.Text) {
		w.textBlock(p)
	} else if p.Cache != nil {
		w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
	}
}

func (w *contentWriter) textBlock(p *llm.Part) {
	w.open("text")
	w.Str("text", p.Text)
	if p.Shape == shapeName {
		w.Raw("citations", p.Citations)
	}
	w.shut(p)
}

// call writes a tool call.
func (w *contentWriter) call(m *llm.Message, p *llm.Part) error {
	if p.Signature != "" {
		w.t.Drop(w.c.Path(m, p.Index) + ".signature")
	}
	w.open("tool_use")
	w.Str("id", callID(p.Call.ID))
	w.Str("name", p.Call.Name)
	if p.Call.Custom {
		return fields.Invalid(w.c.Path(m, p.Index), "contains a call of a free-text tool, which this provider does not support")
	}
	if !w.Arguments("input", p.Call.Arguments) {
		w.t.Drop(toolcalls.ArgumentsPath(w.c, m, p))
	}
	w.shut(p)
	return nil
}

// callID returns the id of a call with every character that Anthropic does not allow replaced by
// "_". Ids of other providers may have such characters, for example "functions.get_weather:0".
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// result writes the result of a call. Plain text is written as a string.
func (w *contentWriter) result(m *llm.Message, p *llm.Part) error {
	r := p.Result
	if r.ID == "" { // results of the deprecated function calls have no id
		return fields.Invalid(w.c.Path(m, p.Index), "contains a tool result without a call id, which this provider requires")
	}
	w.open("tool_result")
	w.Str("tool_use_id", callID(r.ID))
	switch {
	case len(r.Parts) == 1 && r.Parts[0].Kind == llm.TextPart && r.Parts[0].Index < 0:
		w.Str("content", r.Parts[0].Text)
	case len(r.Parts) > 0:
		w.Key("content").Open('[')
		inner := *m
		for i := range r.Parts {
			if err := w.inner(&inner, p.Index, &r.Parts[i]); err != nil {
				return err
			}
		}
		w.Close(']')
	}
	if r.Error {
		w.Bool("is_error", true)
	}
	w.shut(p)
	return nil
}

// inner writes a part of a result. The path of the part is that of the result.
func (w *contentWriter) inner(m *llm.Message, index int, p *llm.Part) error {
	known, _ := conversation.ResultPart(w.t, w.c, m, index, shapeName, p)
	q := *known
	q.Index = index
	return w.block(m, &q)
}
