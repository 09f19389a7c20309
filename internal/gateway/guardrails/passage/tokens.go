package passage

import (
	"strconv"

	"sluice/internal/kernel/jsonedit"
)

// tokens reads the log probabilities of a text. Their tokens are the text again, in pieces: each list of
// them, and each rank of the alternatives, is one passage.
func (w *walker) tokens(a around) {
	start := w.offset()
	kind := w.r.Kind()
	raw := w.r.Raw()
	c := tokenCoding(kind)
	if raw == nil || c == unquoted {
		return
	}
	j := joiner{texts: make(map[string][]byte)}
	r := jsonedit.NewReader(raw)
	j.join(&r, "", false, 0)
	at := spot{start: start, end: start + len(raw), coding: c}
	a.kind = Tokens
	for _, name := range j.order {
		w.add(Passage{Text: string(j.texts[name])}, at, a)
	}
}

// tokenCoding returns the coding of a value with tokens; unquoted for one that has none.
func tokenCoding(kind byte) coding {
	switch kind {
	case '[':
		return tokenList
	case '{':
		return tokenObject
	}
	return unquoted
}

// joiner joins the strings of a value by their path. Positions in the outermost list do not count, since
// the tokens of a text follow each other there.
type joiner struct {
	texts map[string][]byte
	order []string
}

// maxTokenPaths limits the passages of one value: APIs have up to 20 alternatives of a token.
const maxTokenPaths = 100

func (j *joiner) join(r *jsonedit.Reader, path string, inList bool, depth int) {
	switch r.Kind() {
	case '"':
		j.add(path, jsonedit.AppendUnquoted(nil, r.Raw()))
	case '[':
		for k := range r.Elements() {
			inner := path
			if inList {
				inner += "." + strconv.Itoa(k)
			}
			if depth < maxDepth {
				j.join(r, inner, true, depth+1)
			}
		}
	case '{':
		for name := range r.Members() {
			if r.Kind() != '"' && r.Kind() != '[' && r.Kind() != '{' {
				j.add(path+".names", name) // {" a":-0.1}
				continue
			}
			if depth < maxDepth {
				j.join(r, path+"."+string(name), inList, depth+1)
			}
		}
	}
}

func (j *joiner) add(path string, text []byte) {
	if len(text) == 0 {
		return
	}
	if _, known := j.texts[path]; !known {
		if len(j.order) == maxTokenPaths {
			path = j.order[maxTokenPaths-1]
		} else {
			j.order = append(j.order, path)
		}
	}
	j.texts[path] = append(j.texts[path], text...)
}
