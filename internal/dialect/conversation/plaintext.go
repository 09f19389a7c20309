package conversation

import (
	"strings"

	"sluice/internal/dialect/fields"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// PlainText is the text of a message for providers that support only text: its texts and
// refusals, separated by line ends. Reasoning, cache marks, citations and names of participants
// are reported to t as dropped. Tool calls and their results, images, recordings and documents
// are fault.InvalidParameter with the path as Param, because the conversation has no meaning
// without them.
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

// DropCacheControl reports to t what a provider without prompt caching and citations omits from a
// part.
func DropCacheControl(t *llm.FieldTracker, c *llm.Call, m *llm.Message, p *llm.Part) {
	if p.Cache != nil {
		t.Drop(c.Path(m, p.Index) + ".cache_control")
	}
	if len(p.Citations) > 0 {
		t.Drop(c.Path(m, p.Index) + ".citations")
	}
}

// DropTools reports to t that the tools and the tool choice are dropped. It does not report a
// choice of no tools, which still holds.
func DropTools(t *llm.FieldTracker, c *llm.Call) {
	for i := range c.Tools {
		t.Drop(fields.ElementPath("tools", c.Tools[i].Index))
	}
	switch c.Choice.Mode {
	case "", "auto", "none":
	default:
		t.Drop(c.Choice.From)
	}
}

// DropFormat reports to t that the requested response format is dropped, unless it is plain text.
func DropFormat(t *llm.FieldTracker, c *llm.Call) {
	if c.Format != nil && c.Format.Type != "text" {
		t.Drop(c.Format.From)
	}
}

// partNames are the names of the parts in error messages.
var partNames = map[llm.PartKind]string{
	llm.ImagePart: "images", llm.AudioPart: "recordings", llm.FilePart: "files", llm.CallPart: "tool calls", llm.ResultPart: "tool results",
}

// RejectUnsupported is the error for a part that a provider does not support and without which the
// request has no meaning: fault.InvalidParameter with its path as Param.
func RejectUnsupported(c *llm.Call, m *llm.Message, p *llm.Part) error {
	path, what := c.Path(m, p.Index), partNames[p.Kind]
	if what == "" {
		what = "parts of this type"
	}
	return fault.Newf(fault.InvalidParameter, "%s: this provider does not support %s", path, what).WithParam(path)
}
