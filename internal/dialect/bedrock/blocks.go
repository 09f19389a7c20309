package bedrock

import (
	"context"
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/llm"
)

// part writes one part of a message as a content block, followed by its cache point.
func (w *contentWriter) part(ctx context.Context, m *llm.Message, p *llm.Part, t *turnState) error {
	before := len(w.B)
	if err := w.block(ctx, m, p, t); err != nil {
		return err
	}
	w.dropCitations(m, p)
	if c := mark(p); c != nil {
		if !canPrecedePoint(w.B[before:]) {
			w.t.Drop(w.c.Path(m, p.Index) + ".cache_control")
			return nil
		}
		w.cachePoint(c, w.c.Path(m, p.Index))
	}
	return nil
}

func (w *contentWriter) block(ctx context.Context, m *llm.Message, p *llm.Part, t *turnState) error {
	switch p.Kind {
	case llm.TextPart, llm.RefusalPart:
		if !conversation.IsBlank(p.Text) {
			w.text(p.Text)
			t.text = true
		}
	case llm.ImagePart, llm.FilePart:
		return w.media(ctx, m, p, t)
	case llm.AudioPart:
		return w.audio(m, p)
	case llm.ReasoningPart, llm.SealedPart:
		w.writeReasoning(m, p)
	case llm.CallPart:
		return w.call(m, p)
	case llm.ResultPart:
		return w.result(ctx, m, p)
	case llm.OpaquePart:
		if m.Role == llm.RoleAssistant { // content of a tool that a provider ran
			w.t.Drop(w.c.Path(m, p.Index))
			return nil
		}
		return conversation.RejectUnsupported(w.c, m, p)
	}
	return nil
}

// takes reports whether the model accepts the reasoning part p. Claude accepts its own. Other
// models reject a signature, or reasoning in general. The family of an ARN may be unknown, and the
// reasoning is then dropped.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ReasoningTextBlock.html, read 2026-11.
func (w *contentWriter) takes(p *llm.Part) bool {
	return w.family == anthropic && signatures.IsClaude(p)
}

// writeReasoning writes reasoning with its signature, which every model requires, or redacted
// reasoning. It drops parts that the model does not accept.
func (w *contentWriter) writeReasoning(m *llm.Message, p *llm.Part) {
	if !w.takes(p) {
		w.t.Drop(w.c.Path(m, p.Index))
		return
	}
	w.Open('{')
	w.Key("reasoningContent").Open('{')
	if p.Kind == llm.SealedPart {
		w.Str("redactedContent", p.Text)
	} else {
		w.Key("reasoningText").Open('{')
		w.Str("text", p.Text)
		w.Str("signature", p.Signature)
		w.Close('}')
	}
	w.Close('}')
	w.Close('}')
}

// call writes a tool call of the model.
func (w *contentWriter) call(m *llm.Message, p *llm.Part) error {
	if p.Signature != "" {
		w.t.Drop(w.c.Path(m, p.Index) + ".signature")
	}
	w.Open('{')
	w.Key("toolUse").Open('{')
	w.Str("toolUseId", callID(p.Call.ID))
	w.Str("name", p.Call.Name)
	if p.Call.Custom {
		return w.refuse(toolcalls.ArgumentsPath(w.c, m, p), "contains a call of a free-text tool, which this provider does not support")
	}
	if !w.Arguments("input", p.Call.Arguments) {
		w.t.Drop(toolcalls.ArgumentsPath(w.c, m, p))
	}
	w.Close('}')
	w.Close('}')
	return nil
}

// callID returns the id of a call in the format that Bedrock accepts for all models: 1 to 64
// letters, digits, "_" and "-".
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html, read 2026-11.
func callID(id string) string {
	if len(id) > 64 || strings.Trim(id, toolcalls.IDLetters+"_-") != "" {
		return toolcalls.ShortID(id, 24)
	}
	return id
}

// failed is the prefix of the text of a failed call, for models without a status for tool
// results.
const failed = "Error: "

// result writes the result of a call. Bedrock rejects blank texts but accepts an empty list.
// Source: contract/provider-transforms.md 3.3, 3.10;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html, read 2026-11.
func (w *contentWriter) result(ctx context.Context, m *llm.Message, p *llm.Part) error {
	r := p.Result
	hasErrorStatus := w.family == anthropic || w.family == amazon
	if r.ID == "" { // results of the deprecated function calls have no id
		return w.refuse(w.c.Path(m, p.Index), "contains a tool result without a call id, which this provider requires")
	}
	w.Open('{')
	w.Key("toolResult").Open('{')
	w.Str("toolUseId", callID(r.ID))
	if r.Error && hasErrorStatus {
		w.Str("status", "error")
	}
	w.Key("content").Open('[')
	if r.Error && !hasErrorStatus {
		w.text(failed + w.plainOf(m, p))
	}
	for i := range r.Parts {
		part := w.resultPart(m, p, i)
		w.dropCitations(m, part)
		var err error
		switch part.Kind {
		case llm.TextPart:
			if !conversation.IsBlank(part.Text) && (hasErrorStatus || !r.Error) {
				w.text(part.Text)
			}
		case llm.ImagePart, llm.FilePart:
			err = w.media(ctx, m, part, &turnState{})
		default:
			err = conversation.RejectUnsupported(w.c, m, part)
		}
		if err != nil {
			return err
		}
	}
	w.Close(']')
	w.Close('}')
	w.Close('}')
	return nil
}

// resultPart returns a part of a result. A block in another dialect's format becomes its text.
func (w *contentWriter) resultPart(m *llm.Message, p *llm.Part, i int) *llm.Part {
	part, _ := conversation.ResultPart(w.t, w.c, m, p.Index, shapeName, &p.Result.Parts[i])
	return part
}

// plainOf joins the texts of the result p.
func (w *contentWriter) plainOf(m *llm.Message, p *llm.Part) string {
	var all strings.Builder
	for i := range p.Result.Parts {
		if part := w.resultPart(m, p, i); part.Kind == llm.TextPart {
			if all.Len() > 0 {
				all.WriteByte('\n')
			}
			all.WriteString(part.Text)
		}
	}
	return all.String()
}
