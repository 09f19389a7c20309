package anthropic

import (
	"cmp"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// EncodeResponse writes a message. It contains the first choice only, because a message has one
// choice. Audio is left out, because a message cannot contain it. Images are written only for
// callers who are not strict, as blocks in the format of a request.
// Source: contract/provider-transforms.md 9.2.
func (messages) EncodeResponse(dst []byte, r *llm.Response, a *dialect.ResponseContext) []byte {
	var c llm.Choice
	if len(r.Choices) > 0 {
		c = r.Choices[0]
	}
	w := jsonwriter.AppendTo(dst)
	w.Open('{')
	writeHead(&w, messageID(r.ID, a), cmp.Or(r.Model, a.Call.Model), a.Provider)
	w.Key("content").Open('[')
	for i := range c.Parts {
		writeBlock(&w, &c.Parts[i], a.Strict)
	}
	w.Close(']')
	writeStop(&w, &ended{c.Finish, c.Raw, c.StopText, c.Refuses()})
	extra := append(c.Extra[:len(c.Extra):len(c.Extra)], r.Extra...)
	writeUsage(&w, &r.Usage, extra)
	writeExtra(&w, extra, a.Strict)
	w.Close('}')
	return w.B
}

// messageID returns the id of a message: the provider's id when it is one of Anthropic's.
func messageID(id string, a *dialect.ResponseContext) string {
	if strings.HasPrefix(id, "msg_") {
		return id
	}
	return "msg_" + a.ID
}

func writeHead(w *jsonwriter.Writer, id, model, provider string) {
	w.Str("id", id)
	w.Str("type", "message")
	w.Str("role", "assistant")
	w.Str("model", model)
	w.Opt("provider", provider)
}

func writeStop(w *jsonwriter.Writer, e *ended) {
	w.Str("stop_reason", e.stopReason())
	if e.stop != "" {
		w.Str("stop_sequence", e.stop)
	} else {
		w.Raw("stop_sequence", null)
	}
}

// nativeExtras lists extra members that belong to the Messages API, so that strict callers
// get them too.
var nativeExtras = map[string]bool{"container": true, "context_management": true, "stop_details": true, "diagnostics": true}

func writeExtra(w *jsonwriter.Writer, list []llm.Param, strict bool) {
	for i := range list {
		if p := &list[i]; !usageExtras[p.Name] && (!strict || nativeExtras[p.Name]) {
			w.Named(p.Name, p.Raw)
		}
	}
}

func writeBlock(w *jsonwriter.Writer, p *llm.Part, strict bool) {
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart:
		if p.Text == "" && p.Citations == nil {
			return
		}
		w.Open('{')
		w.Str("type", "text")
		w.Str("text", p.Text)
		if p.Shape == shapeName {
			w.Raw("citations", p.Citations)
		}
		if p.Signature != "" {
			w.Close('}')
			w.Open('{')
			w.Str("type", "thinking")
			w.Str("thinking", "")
			w.Str("signature", signatures.MarkText(p.Signature))
		}
	case llm.ReasoningPart:
		w.Open('{')
		w.Str("type", "thinking")
		w.Str("thinking", p.Text)
		w.Str("signature", p.Signature)
	case llm.SealedPart:
		w.Open('{')
		w.Str("type", "redacted_thinking")
		w.Str("data", p.Text)
	case llm.CallPart:
		w.Open('{')
		w.Str("type", "tool_use")
		w.Str("id", p.Call.ID)
		w.Str("name", p.Call.Name)
		w.Raw("input", input(p.Call.Arguments))
	case llm.ImagePart:
		if !strict && (p.Media.Data != "" || p.Media.URL != "") {
			writeImageBlock(w, p.Media)
		}
		return
	case llm.OpaquePart:
		if p.Shape == shapeName {
			w.Value(p.Raw)
		}
		return
	default:
		return
	}
	w.Close('}')
}

// writeImageBlock writes an image that a model generated.
func writeImageBlock(w *jsonwriter.Writer, m *llm.Media) {
	w.Open('{')
	w.Str("type", "image")
	w.Key("source").Open('{')
	if m.Data != "" {
		w.Str("type", "base64")
		w.Str("media_type", cmp.Or(m.MIME, "image/png"))
		w.Str("data", m.Data)
	} else {
		w.Str("type", "url")
		w.Str("url", m.URL)
	}
	w.Close('}')
	w.Close('}')
}

// input returns the arguments of a call, or an empty object when there are none.
func input(arguments string) []byte {
	if b := []byte(strings.TrimSpace(arguments)); jsonedit.Valid(b) {
		return b
	}
	return []byte("{}")
}
