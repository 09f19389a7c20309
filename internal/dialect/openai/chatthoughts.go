package openai

import (
	"bytes"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// thought keeps a thought for the place that the provider has for it; where it has none,
// it is lost.
func (w *callWriter) thought(m *llm.Message, p *llm.Part, to *strings.Builder) {
	at := w.c.Path(m, p.Index)
	switch {
	case w.thoughts == dialect.ThoughtsInDetails: // see details
		return
	case w.thoughts == "", p.Kind == llm.SealedPart, p.Text == "":
		w.t.Drop(at)
		return
	}
	to.WriteString(p.Text)
	if p.Signature != "" {
		w.t.Drop(at + ".signature")
	}
}

// contentList is what a model thought and said, as Mistral takes it back.
func contentList(parts []llm.Part) []byte {
	var w dialect.JSON
	w.Open('[')
	for i := range parts {
		switch p := &parts[i]; {
		case p.Text == "":
		case p.Kind == llm.ThoughtPart:
			w.Open('{')
			w.Str("type", "thinking")
			w.Key("thinking").Open('[')
			textPiece(&w, p.Text)
			w.Close(']')
			w.Close('}')
		case p.Kind == llm.TextPart, p.Kind == llm.RefusalPart:
			textPiece(&w, p.Text)
		}
	}
	w.Close(']')
	return w.B
}

func textPiece(w *dialect.JSON, text string) {
	w.Open('{')
	w.Str("type", "text")
	w.Str("text", text)
	w.Close('}')
}

// thoughtful puts the thoughts that callers of chat give back where the provider takes
// them: those of content_blocks, and those that other providers tell beside the content. A
// provider that takes none does not get content_blocks at all: they are the gateway's, and
// some refuse what they do not know. It returns nil when there are none.
func thoughtful(messages []byte, place string) []byte {
	if !bytes.Contains(messages, []byte(`"content_blocks"`)) {
		return nil
	}
	if place == dialect.ThoughtsInDetails { // whose own answers have no content_blocks
		place = ""
	}
	var w dialect.JSON
	w.Open('[')
	for m := range splice.Elements(messages) {
		blocks, ok := splice.Find(m, "content_blocks")
		if !ok || len(blocks) == 0 || blocks[0] != '[' {
			w.Value(m)
			continue
		}
		thoughtMessage(&w, m, readAnswer(blocks), place)
	}
	w.Close(']')
	return w.B
}

// thoughtsLost are the places of the thoughts in content_blocks that thoughtful leaves out: those that
// are sealed, and those without text, and all where the provider has no place for any.
func thoughtsLost(messages []byte, place string) (lost []string) {
	if !bytes.Contains(messages, []byte(`"content_blocks"`)) {
		return nil
	}
	none := place == "" || place == dialect.ThoughtsInDetails
	i := 0
	for m := range splice.Elements(messages) {
		blocks, _ := splice.Find(m, "content_blocks")
		k := 0
		for b := range splice.Elements(blocks) {
			p, err := readPart(b, "")
			if err == nil && (p.Kind == llm.SealedPart || p.Kind == llm.ThoughtPart && (none || p.Text == "")) {
				lost = append(lost, dialect.ElementPath(dialect.ElementPath("messages", i)+".content_blocks", k))
			}
			k++
		}
		i++
	}
	return lost
}

// thoughtMessage writes a message with content_blocks in the provider's words.
func thoughtMessage(w *dialect.JSON, m []byte, parts []llm.Part, place string) {
	var thoughts, text strings.Builder
	for i := range parts {
		switch p := &parts[i]; {
		case p.Kind == llm.ThoughtPart && place != "":
			thoughts.WriteString(p.Text)
		case p.Kind == llm.TextPart:
			text.WriteString(p.Text)
		}
	}
	if _, said := splice.Find(m, "content"); said {
		text.Reset()
	}
	w.Open('{')
	for name, val := range splice.Members(m) {
		switch n := plainName(name); {
		case n == "content_blocks", n == "reasoning_content" && thoughts.Len() > 0:
		case n == "content" && thoughts.Len() > 0 && place == dialect.ThoughtsInContent:
			w.Raw(n, contentList(parts))
		default:
			w.Key(string(name[1 : len(name)-1])).Value(val)
		}
	}
	w.Opt("content", text.String()) // of a caller who gives back the blocks alone
	if place == dialect.ThoughtsBeside {
		w.Opt("reasoning_content", thoughts.String())
	}
	w.Close('}')
}
