package tokens

import (
	"bytes"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// What a provider may put around the words of a call beside them, generously.
const (
	turnMost    = 16
	toolMost    = 64
	toolsetMost = 1024
	replyMost   = 64
)

// BoundCall is never less than what a provider can count as the input of a conversation:
// one for each byte of text, and the most that its media and the words around them can
// come to. Model narrows what media can cost; see Counter.Call. Files that are only named
// count as 2,097,152 tokens, the largest context window there is: take the smaller of
// this and the model's own.
func BoundCall(c *llm.Call, model string) int64 {
	b := bound{family: familyOf(model)}
	weighCall(&b, c)
	return b.sum()
}

// BoundRequest is BoundCall for a raw request body; see Counter.Request.
func BoundRequest(ep llm.Endpoint, body []byte, model string) int64 {
	if n, ok := boundPlain(body); ok {
		return n
	}
	b := bound{family: familyOf(model)}
	weighRequest(&b, ep, body)
	return b.sum()
}

// boundPlain bounds a body that holds no medium by its bytes, and the tools and forms in
// it, which providers write out in words of their own, by three times theirs. It decodes
// nothing.
func boundPlain(body []byte) (n int64, ok bool) {
	for _, word := range beyondBytes {
		if bytes.Contains(body, word) {
			return 0, false
		}
	}
	n = int64(len(body)) + replyMost
	for name, raw := range splice.Members(body) {
		switch string(name) {
		case `"tools"`, `"functions"`, `"response_format"`, `"output_config"`, `"text"`:
			n += 2*int64(len(raw)) + toolsetMost
		}
	}
	return n, true
}

// beyondBytes begin the names of what may count more than its bytes; the last is how
// letters are written so that a name is not recognised.
var beyondBytes = [][]byte{[]byte(`"image`), []byte(`"input_image`), []byte(`"input_audio`), []byte(`"input_file`), []byte(`"file`), []byte(`"document`), []byte(`"encrypted`), []byte(`\u`)}

// BoundText is never less than the tokens of s by itself: its bytes.
func BoundText(s string) int64 { return int64(len(s)) }

// bound is the scale of the Bound functions.
type bound struct {
	family *family
	total  int64
	turns  int
	tools  int
}

func (b *bound) text(s string)    { b.total += int64(len(s)) }
func (b *bound) sealed(size int)  { b.total += int64(size) }
func (b *bound) tokens(n int64)   { b.total += n }
func (b *bound) medium(m *medium) { b.total += m.bound(b.family) }

func (b *bound) turn(_, name string) {
	b.turns++
	b.total += turnMost + int64(len(name))
}

func (b *bound) tool(t *llm.Tool) {
	b.tools++
	b.total += toolMost + int64(len(t.Name)+len(t.Description)+max(len(t.Schema), 2*len(t.Raw)))
	if t.Type == llm.Function {
		b.total += int64(len(t.Schema))
	}
}

func (b *bound) sum() int64 {
	n := b.total
	if b.turns > 0 {
		n += replyMost
	}
	if b.tools > 0 {
		n += toolsetMost
	}
	return n
}
