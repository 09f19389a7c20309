package replay

import "strings"

// Text is what a JSON answer says, in any of the shapes that callers speak; empty for an
// answer without words.
func Text(answer []byte) string {
	v := decode(answer)
	if v == nil {
		return ""
	}
	top, _ := (*v).(map[string]any)
	var b strings.Builder
	for _, list := range []string{"choices", "content", "output"} {
		said(&b, top[list], 0)
	}
	return b.String()
}

// said gathers the texts of a part: of a choice its message, of a message its content, of
// a list its elements.
func said(b *strings.Builder, v any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case string:
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(v)
	case []any:
		for _, e := range v {
			if _, list := e.(map[string]any); list {
				said(b, e, depth+1)
			}
		}
	case map[string]any:
		for _, name := range []string{"message", "content", "text"} {
			said(b, v[name], depth+1)
		}
	}
}
