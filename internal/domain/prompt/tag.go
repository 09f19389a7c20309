package prompt

import "strings"

const (
	opening = "{{"
	closing = "}}"
)

// next finds the next tag; without one it stands at the end of the text.
func (p *parser) next() (t tag, found bool, err error) {
	i := strings.Index(p.src[p.pos:], opening)
	if i < 0 {
		return tag{start: len(p.src), until: len(p.src)}, false, nil
	}
	t.start = p.pos + i
	if p.tags++; p.tags > MaxTags {
		return t, false, invalid("the template has more than %d tags", MaxTags)
	}
	end := closing
	rest := p.src[t.start+len(opening):]
	if strings.HasPrefix(rest, "{") {
		end = "}" + closing
	}
	n := strings.Index(rest, end)
	if n < 0 {
		return t, false, p.wrong(t.start, "the tag has no end; add %s", end)
	}
	body := strings.TrimSpace(rest[:n])
	if body != "" && strings.IndexByte("#^/!>&{=", body[0]) >= 0 {
		t.sigil, body = body[0], strings.TrimSpace(body[1:])
	}
	t.body, t.until = body, t.start+len(opening)+n+len(end)
	if t.sigil != 0 && strings.IndexByte("#^/!", t.sigil) >= 0 {
		p.standAlone(&t)
	}
	return t, true, nil
}

// standAlone finds out whether a tag has its line for itself.
func (p *parser) standAlone(t *tag) {
	begin := t.start
	for begin > 0 && isBlank(p.src[begin-1]) {
		begin--
	}
	end := t.until
	for end < len(p.src) && (isBlank(p.src[end]) || p.src[end] == '\r') {
		end++
	}
	first, last := begin == 0, end == len(p.src)
	switch {
	case !first && p.src[begin-1] != '\n', !last && p.src[end] != '\n', first && last:
		return // beside something, or the whole of a text that has no lines
	case !last:
		end++
	}
	t.lone, t.until = true, end
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
