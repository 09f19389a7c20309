package dialect

import (
	"strings"

	"sluice/internal/fault"
	"sluice/internal/llm"
)

// PlainText is the text of a message for providers that know nothing else: its texts
// and refusals, a line end between them. Thoughts, cache marks, citations and names of
// speakers are told to t as lost. Tool calls and their results, pictures, recordings and
// documents, without which the conversation has no sense, are fault.InvalidParameter
// with the place as Param.
func PlainText(t *llm.FieldTracker, c *llm.Call, m *llm.Message) (string, error) {
	if m.Name != "" {
		t.Drop(c.Path(m, -1) + ".name")
	}
	var texts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case llm.TextPart, llm.RefusalPart:
			texts = append(texts, p.Text)
			DropCacheControl(t, c, m, p)
		case llm.ReasoningPart, llm.SealedPart:
			t.Drop(c.Path(m, p.Index))
		default:
			return "", RejectUnsupported(c, m, p)
		}
	}
	return strings.Join(texts, "\n"), nil
}

// DropCacheControl tells t what a provider without prompt caching and citations leaves out of
// a part.
func DropCacheControl(t *llm.FieldTracker, c *llm.Call, m *llm.Message, p *llm.Part) {
	if p.Cache != nil {
		t.Drop(c.Path(m, p.Index) + ".cache_control")
	}
	if len(p.Citations) > 0 {
		t.Drop(c.Path(m, p.Index) + ".citations")
	}
}

// DropTools tells t that the tools are left out, and what was said of their choice; that
// no tool shall be called holds anyway.
func DropTools(t *llm.FieldTracker, c *llm.Call) {
	for i := range c.Tools {
		t.Drop(ElementPath("tools", c.Tools[i].Index))
	}
	switch c.Choice.Mode {
	case "", "auto", "none":
	default:
		t.Drop(c.Choice.From)
	}
}

// DropFormat tells t that the wanted form of the answer is left out; plain text is what
// comes anyway.
func DropFormat(t *llm.FieldTracker, c *llm.Call) {
	if c.Format != nil && c.Format.Type != "text" {
		t.Drop(c.Format.From)
	}
}

// partNames are what callers know the parts as.
var partNames = map[llm.PartKind]string{
	llm.ImagePart: "images", llm.AudioPart: "recordings", llm.FilePart: "files", llm.CallPart: "tool calls", llm.ResultPart: "tool results",
}

// RejectUnsupported is the refusal of a part that a provider has no place for, and without
// which the request has no sense: fault.InvalidParameter with its place as Param.
func RejectUnsupported(c *llm.Call, m *llm.Message, p *llm.Part) error {
	path, what := c.Path(m, p.Index), partNames[p.Kind]
	if what == "" {
		what = "parts of this type"
	}
	return fault.Newf(fault.InvalidParameter, "%s: this provider does not support %s", path, what).WithParam(path)
}
