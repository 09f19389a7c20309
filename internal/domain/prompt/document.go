package prompt

import (
	"bytes"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// document is JSON whose string values are templates. What comes of it is JSON again,
// whatever the variables hold: each filled text is written as a string.
type document struct {
	parts    []documentPart
	partials []PartialRef
}

// documentPart is JSON as it stands, or the template of one string.
type documentPart struct {
	json string
	text *Template
}

// parseDocument reads valid JSON. Names of fields are not templates.
func parseDocument(raw []byte) (*document, error) {
	d := new(document)
	from := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := stringEnd(raw, i)
		text, _ := jsonedit.Unquote(raw[i:end])
		if strings.Contains(text, opening) && !isName(raw[end:]) {
			t, err := Parse(text)
			if err != nil {
				return nil, err
			}
			d.parts = append(d.parts, documentPart{json: string(raw[from:i])}, documentPart{text: t})
			d.partials = append(d.partials, t.partials...)
			from = end
		}
		i = end - 1
	}
	d.parts = append(d.parts, documentPart{json: string(raw[from:])})
	return d, nil
}

// stringEnd is the index after the string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(raw))
}

// isName reports whether the string before rest is the name of a field.
func isName(rest []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":")) }

func (d *document) render(r *renderer) ([]byte, error) {
	var out []byte
	for _, p := range d.parts {
		if p.text == nil {
			out = append(out, p.json...)
			continue
		}
		if err := r.nodes(p.text.nodes); err != nil {
			return nil, err
		}
		out = jsonedit.AppendQuoted(out, r.out.flush())
	}
	return out, nil
}
