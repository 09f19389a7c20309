package anthropic

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// block writes a part as a block. Thoughts without a signature, which Anthropic would
// not believe, and what belongs to other providers are left out.
// Source: contract/provider-transforms.md 2.1, 2.2, 9.1.
func (w *callWriter) block(m *llm.Message, p *llm.Part) error {
	at := w.c.Path(m, p.Index)
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart:
		w.text(p, at)
	case llm.ImagePart, llm.FilePart:
		return w.media(m, p)
	case llm.ThoughtPart:
		if p.Signature == "" {
			w.t.Lose(at)
			return nil
		}
		w.open("thinking")
		w.Str("thinking", p.Text)
		w.Str("signature", p.Signature)
		w.shut(p)
	case llm.SealedPart:
		w.open("redacted_thinking")
		w.Str("data", p.Text)
		w.shut(p)
	case llm.CallPart:
		return w.call(p, at)
	case llm.ResultPart:
		return w.result(m, p, at)
	case llm.OpaquePart:
		switch {
		case p.Shape == shapeName:
			w.Value(p.Raw)
		case m.Role == llm.RoleAssistant:
			w.t.Lose(at)
		default:
			return dialect.CannotCarry(w.c, m, p)
		}
	default:
		return dialect.CannotCarry(w.c, m, p)
	}
	return nil
}

func (w *callWriter) open(typ string) {
	w.Open('{')
	w.Str("type", typ)
}

// shut ends a block with its mark and what else a caller who speaks the shape says.
func (w *callWriter) shut(p *llm.Part) {
	w.cache(p.Cache)
	if w.native() {
		for _, x := range w.t.TakeAll(p.Extra) {
			w.Raw(x.Name, x.Raw)
		}
	}
	w.Close('}')
}

// text writes a text. Empty ones, which Anthropic refuses, say nothing.
func (w *callWriter) text(p *llm.Part, at string) {
	if len(p.Citations) > 0 && p.Shape != shapeName {
		w.t.Lose(at + ".citations")
	}
	if p.Text != "" {
		w.textBlock(p)
	} else if p.Cache != nil {
		w.t.Lose(at + ".cache_control")
	}
}

func (w *callWriter) textBlock(p *llm.Part) {
	w.open("text")
	w.Str("text", p.Text)
	if p.Shape == shapeName {
		w.Raw("citations", p.Citations)
	}
	w.shut(p)
}

// call writes a tool call.
func (w *callWriter) call(p *llm.Part, at string) error {
	input := []byte(strings.TrimSpace(p.Call.Arguments))
	if len(input) == 0 {
		input = []byte("{}")
	}
	if p.Call.Custom || !splice.Valid(input) {
		return dialect.Refuse(at, "has a tool call whose arguments are no JSON object, which this provider cannot take")
	}
	if p.Signature != "" {
		w.t.Lose(at + ".signature")
	}
	w.open("tool_use")
	w.Str("id", callID(p.Call.ID))
	w.Str("name", p.Call.Name)
	w.Raw("input", input)
	w.shut(p)
	return nil
}

// callID is the id of a call in the letters that Anthropic allows; other providers'
// ids may have more, for example "functions.get_weather:0".
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// result writes what a call came to, a plain text as a string.
func (w *callWriter) result(m *llm.Message, p *llm.Part, at string) error {
	r := p.Result
	if r.ID == "" { // the functions of old have none
		return dialect.Refuse(at, "has the result of a call without the call's id, which this provider needs")
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

// inner writes a part of a result; its place is that of the result.
func (w *callWriter) inner(m *llm.Message, index int, p *llm.Part) error {
	q := *p
	q.Index = index
	return w.block(m, &q)
}
