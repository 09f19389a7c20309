package responses

import "sluice/internal/kernel/jsonedit"

// quoted is a growing text, as JSON without its last quote. It contains a stream's text of an
// item so far, in the format in which the end of the item repeats it.
type quoted []byte

func (q *quoted) add(s string) {
	if s == "" {
		return
	}
	if len(*q) == 0 {
		*q = append(*q, '"')
	}
	b := jsonedit.AppendQuoted(*q, s)
	copy(b[len(*q):], b[len(*q)+1:len(b)-1])
	*q = b[:len(b)-2]
}

// value returns the complete text as JSON. It is valid until the next add.
func (q quoted) value() []byte {
	if len(q) == 0 {
		return emptyText
	}
	return append(q, '"')
}

var emptyText = []byte(`""`)
