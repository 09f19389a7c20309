package responses

import (
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// cite notes one citation: as an annotation where its form is that of this shape or of
// chat completions, which differ in one level of nesting; anything else waits for
// callers who want the provider's own words. It returns the annotation, nil for none.
func (c *content) cite(raw []byte, shape string) []byte {
	note := annotation(raw, shape)
	if note == nil {
		c.cites = gather(c.cites, raw)
		return nil
	}
	c.notes = gather(c.notes, note)
	c.noted++
	return note
}

// annotation converts {"type":"url_citation","url_citation":{"url":"…"}} to
// {"type":"url_citation","url":"…"}.
// Source: https://platform.openai.com/docs/api-reference/chat/object, read 2026-11.
func annotation(raw []byte, shape string) []byte {
	if shape == shapeName {
		return raw
	}
	kind := jsonedit.Text(raw, "type")
	nested, ok := jsonedit.Find(raw, kind)
	if shape != chatShape || kind == "" || !ok {
		return nil
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", kind)
	for name, val := range jsonedit.Members(nested) {
		w.Raw(plainName(name), val)
	}
	w.Close('}')
	return w.B
}
