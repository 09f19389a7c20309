package replay

import "strings"

// Text is the text of a JSON response, in any of the formats of callers; empty for an
// answer without words.
func Text(response []byte) string {
	v := decode(response)
	if v == nil {
		return ""
	}
	top, _ := (*v).(map[string]any)
	var b strings.Builder
	for _, list := range []string{"choices", "content", "output"} {
		collectText(&b, top[list], 0)
	}
	return b.String()
}

// collectText gathers the texts of a part: of a choice its message, of a message its content, of
// a list its elements.
func collectText(b *strings.Builder, v any, depth int) {
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
				collectText(b, e, depth+1)
			}
		}
	case map[string]any:
		for _, name := range []string{"message", "content", "text"} {
			collectText(b, v[name], depth+1)
		}
	}
}
