package responses

import "sluice/internal/splice"

// quoted is a text that grows, as JSON without its last quote: what a stream has said
// of an item so far, in the form in which the item says it again at its end.
type quoted []byte

func (q *quoted) add(s string) {
	if s == "" {
		return
	}
	if len(*q) == 0 {
		*q = append(*q, '"')
	}
	b := splice.AppendQuoted(*q, s)
	copy(b[len(*q):], b[len(*q)+1:len(b)-1])
	*q = b[:len(b)-2]
}

// value is the whole text as JSON. It is valid until the next add.
func (q quoted) value() []byte {
	if len(q) == 0 {
		return emptyText
	}
	return append(q, '"')
}

var emptyText = []byte(`""`)
