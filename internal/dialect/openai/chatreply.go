package openai

import (
	"cmp"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/media"
	"sluice/internal/kernel/llm"
)

// EncodeResponse writes a chat completion.
// Source: contract/provider-transforms.md 0.2, 2.4.
func (chat) EncodeResponse(dst []byte, r *llm.Response, a *dialect.ResponseContext) []byte {
	w := jsonwriter.AppendTo(dst)
	w.Open('{')
	w.Str("id", cmp.Or(r.ID, "chatcmpl-"+a.ID))
	w.Str("object", "chat.completion")
	w.Int("created", created(r.Created, a))
	w.Str("model", cmp.Or(r.Model, a.Call.Model))
	w.Opt("provider", a.Provider)
	w.Key("choices").Open('[')
	for i := range r.Choices {
		writeChoice(&w, &r.Choices[i], a)
	}
	w.Close(']')
	writeUsage(&w, &r.Usage)
	writeExtra(&w, r.Extra, a.Strict)
	w.Close('}')
	return w.B
}

func created(epoch int64, a *dialect.ResponseContext) int64 {
	if epoch != 0 {
		return epoch
	}
	return a.Created
}

// nativeExtras are extras that chat itself defines, so that strict callers get them too.
var nativeExtras = map[string]bool{"service_tier": true, "system_fingerprint": true}

func writeExtra(w *jsonwriter.Writer, list []llm.Param, strict bool) {
	for i := range list {
		if p := &list[i]; !strict || nativeExtras[p.Name] {
			w.Named(p.Name, p.Raw)
		}
	}
}

func writeChoice(w *jsonwriter.Writer, c *llm.Choice, a *dialect.ResponseContext) {
	strict := a.Strict
	w.Open('{')
	w.Int("index", int64(c.Index))
	w.Key("message").Open('{')
	w.Str("role", "assistant")
	s := gather(c.Parts)
	if s.spoke || s.calls == 0 && s.refusal == "" {
		w.Str("content", s.text)
	} else {
		w.Raw("content", []byte("null"))
	}
	if s.refusal != "" {
		w.Str("refusal", s.refusal)
	} else {
		w.Raw("refusal", []byte("null"))
	}
	writeCalls(w, c.Parts, a)
	if s.audio != nil {
		writeAudio(w, s.audio)
	}
	if !strict {
		writeBlocks(w, c.Parts)
	}
	w.Close('}')
	if len(c.Logprobs) > 0 {
		w.Raw("logprobs", c.Logprobs)
	} else {
		w.Raw("logprobs", []byte("null"))
	}
	w.Str("finish_reason", finishReason(c.Finish, c.Raw, a))
	writeExtra(w, c.Extra, strict)
	w.Close('}')
}

// finishReason returns the shape's finish reason, or the provider's own for callers that
// request it.
func finishReason(f llm.Finish, raw string, a *dialect.ResponseContext) string {
	switch {
	case !a.Strict && raw != "":
		return raw
	case f == llm.FinishToolCalls && a.Call.Functions:
		return "function_call"
	}
	return f.Chat()
}

// writeCalls writes the calls of a response. Callers of functions support only one call. Any
// further calls are in the field for callers of tools.
func writeCalls(w *jsonwriter.Writer, parts []llm.Part, a *dialect.ResponseContext) {
	open, function := false, a.Call.Functions
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Kind != llm.CallPart:
			continue
		case function:
			writeFunctionCall(w, p.Call.Name, cmp.Or(p.Call.Arguments, noArguments))
			function = false
			continue
		case !open:
			w.Key("tool_calls").Open('[')
			open = true
		}
		writeCall(w, p, a.Strict)
	}
	if open {
		w.Close(']')
	}
}

// messageContent contains the parts of a response in the fields of a chat message.
type messageContent struct {
	text, refusal string
	spoke         bool
	calls         int
	audio         *llm.Part
}

func gather(parts []llm.Part) messageContent {
	var s messageContent
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case llm.TextPart:
			s.text, s.spoke = s.text+p.Text, true
		case llm.RefusalPart:
			s.refusal += p.Text
		case llm.CallPart:
			s.calls++
		case llm.AudioPart:
			s.audio = p
		default: // a message does not support it
		}
	}
	return s
}

// noArguments are the arguments of a call for which the model returns none.
const noArguments = "{}"

func writeCall(w *jsonwriter.Writer, p *llm.Part, strict bool) {
	kind, args, text := llm.Function, "arguments", cmp.Or(p.Call.Arguments, noArguments)
	if p.Call.Custom {
		kind, args, text = llm.Custom, "input", p.Call.Arguments
	}
	w.Open('{')
	w.Str("id", p.Call.ID)
	w.Str("type", kind)
	w.Key(kind).Open('{')
	w.Str("name", p.Call.Name)
	w.Str(args, text)
	if !strict {
		w.Opt("thought_signature", p.Signature)
	}
	w.Close('}')
	w.Close('}')
}

func writeAudio(w *jsonwriter.Writer, p *llm.Part) {
	w.Key("audio").Open('{')
	w.Str("id", p.ID)
	w.Str("data", p.Media.Data)
	w.Str("transcript", p.Text)
	w.Close('}')
}

// writeBlocks writes the content in its order, including reasoning and images.
func writeBlocks(w *jsonwriter.Writer, parts []llm.Part) {
	w.Key("content_blocks").Open('[')
	for i := range parts {
		writeBlock(w, &parts[i])
	}
	w.Close(']')
}

func writeBlock(w *jsonwriter.Writer, p *llm.Part) {
	switch p.Kind {
	case llm.TextPart:
		w.Open('{')
		w.Str("type", "text")
		w.Str("text", p.Text)
		w.Opt("signature", p.Signature)
		w.Raw("citations", p.Citations)
		w.Close('}')
	case llm.ReasoningPart:
		w.Open('{')
		w.Str("type", "thinking")
		w.Str("thinking", p.Text)
		w.Opt("signature", p.Signature)
		w.Close('}')
	case llm.SealedPart:
		w.Open('{')
		w.Str("type", "redacted_thinking")
		w.Str("data", p.Text)
		w.Close('}')
	case llm.ImagePart:
		w.Open('{')
		w.Str("type", "image_url")
		w.Key("image_url").Open('{')
		w.Str("url", media.URL(p.Media))
		w.Close('}')
		w.Close('}')
	case llm.OpaquePart:
		w.Value(p.Raw)
	default: // is elsewhere in the message
	}
}
