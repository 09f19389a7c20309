package openai

import (
	"bytes"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/fields"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// addReasoning stores a reasoning part for the provider's reasoning field. If the provider
// has no such field, the part is dropped.
func (w *callWriter) addReasoning(m *llm.Message, p *llm.Part, to *strings.Builder) {
	path := w.c.Path(m, p.Index)
	switch {
	case w.reasoningField == dialect.ReasoningInDetails: // see details
		return
	case w.reasoningField == "", p.Kind == llm.SealedPart, p.Text == "":
		w.t.Drop(path)
		return
	}
	to.WriteString(p.Text)
	if p.Signature != "" {
		w.t.Drop(path + ".signature")
	}
}

// contentList writes a model's reasoning and content in the format that Mistral accepts.
func contentList(parts []llm.Part) []byte {
	var w jsonwriter.Writer
	w.Open('[')
	for i := range parts {
		switch p := &parts[i]; {
		case p.Text == "":
		case p.Kind == llm.ReasoningPart:
			w.Open('{')
			w.Str("type", "thinking")
			w.Key("thinking").Open('[')
			writeTextPart(&w, p.Text)
			w.Close(']')
			w.Close('}')
		case p.Kind == llm.TextPart, p.Kind == llm.RefusalPart:
			writeTextPart(&w, p.Text)
		}
	}
	w.Close(']')
	return w.B
}

func writeTextPart(w *jsonwriter.Writer, text string) {
	w.Open('{')
	w.Str("type", "text")
	w.Str("text", text)
	w.Close('}')
}

// moveReasoning moves the reasoning that callers of chat send back to the provider's field. It
// moves the reasoning in content_blocks and in the fields that other providers use next to
// the content. A provider that accepts no reasoning does not get content_blocks: they are the
// gateway's, and some providers refuse unknown fields. It returns nil when there is none.
func moveReasoning(messages []byte, dest string) []byte {
	if !bytes.Contains(messages, []byte(`"content_blocks"`)) {
		return nil
	}
	if dest == dialect.ReasoningInDetails { // its own responses have no content_blocks
		dest = ""
	}
	var w jsonwriter.Writer
	w.Open('[')
	for m := range jsonedit.Elements(messages) {
		blocks, ok := jsonedit.Find(m, "content_blocks")
		if !ok || len(blocks) == 0 || blocks[0] != '[' {
			w.Value(m)
			continue
		}
		writeReasoningMessage(&w, m, readResponseContent(blocks), dest)
	}
	w.Close(']')
	return w.B
}

// droppedReasoning returns the paths of the reasoning in content_blocks that is omitted:
// encrypted reasoning, reasoning without text, and all of it if the provider has no field
// for reasoning.
func droppedReasoning(messages []byte, dest string) (lost []string) {
	if !bytes.Contains(messages, []byte(`"content_blocks"`)) {
		return nil
	}
	none := dest == "" || dest == dialect.ReasoningInDetails
	i := 0
	for m := range jsonedit.Elements(messages) {
		blocks, _ := jsonedit.Find(m, "content_blocks")
		k := 0
		for b := range jsonedit.Elements(blocks) {
			p, err := readPart(b, "")
			if err == nil && (p.Kind == llm.SealedPart || p.Kind == llm.ReasoningPart && (none || p.Text == "")) {
				lost = append(lost, fields.ElementPath(fields.ElementPath("messages", i)+".content_blocks", k))
			}
			k++
		}
		i++
	}
	return lost
}

// writeReasoningMessage writes a message with content_blocks in the provider's format.
func writeReasoningMessage(w *jsonwriter.Writer, m []byte, parts []llm.Part, dest string) {
	var reasoning, text strings.Builder
	for i := range parts {
		switch p := &parts[i]; {
		case p.Kind == llm.ReasoningPart && dest != "":
			reasoning.WriteString(p.Text)
		case p.Kind == llm.TextPart:
			text.WriteString(p.Text)
		}
	}
	if _, hasContent := jsonedit.Find(m, "content"); hasContent {
		text.Reset()
	}
	w.Open('{')
	for name, val := range jsonedit.Members(m) {
		switch n := plainName(name); {
		case n == "content_blocks", n == "reasoning_content" && reasoning.Len() > 0:
		case n == "content" && reasoning.Len() > 0 && dest == dialect.ReasoningInContent:
			w.Raw(n, contentList(parts))
		default:
			w.Key(string(name[1 : len(name)-1])).Value(val)
		}
	}
	w.Opt("content", text.String()) // for a caller that sends back only the blocks
	if dest == dialect.ReasoningInSeparateField {
		w.Opt("reasoning_content", reasoning.String())
	}
	w.Close('}')
}
