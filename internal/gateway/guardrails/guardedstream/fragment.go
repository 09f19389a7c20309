package guardedstream

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// fragment is a text inside an event, and its part of a channel.
type fragment struct {
	at       span // in the data of the event; in its base for a line
	form     form
	channel  *channel
	from, to int  // in the text of the channel
	until    int  // the fragment may be released when the text before is final
	altered  bool // by edits that the text of the channel includes already

	// A provider may split a character between two events, as two escapes of surrogates. The
	// character belongs to the second fragment.
	high rune // the escape at the end
	low  rune // the escape at the beginning, if it completes the character
}

// form is how a text is written in an event.
type form int

const (
	quoted    form = iota // a JSON string
	object                // a JSON object: its bytes are the text
	plain                 // a line
	tokens                // a list of tokens, which becomes empty or null when it is edited
	signature             // of a text, which becomes empty when the text is edited
)

// isEdited reports whether edits change the fragment.
func (f *fragment) isEdited() bool {
	return f.altered || f.channel.isEdited(f.from, f.to) || f.splitsEdited()
}

// splitsEdited reports whether edits change the character whose first part ends the fragment.
func (f *fragment) splitsEdited() bool { return f.high != 0 && f.channel.isEdited(f.to, f.until) }

// dropEditedSurrogates removes both parts of a split character that an edit replaced.
func (f *fragment) dropEditedSurrogates() {
	if f.low != 0 && f.channel.isEdited(f.from, f.from+utf8.UTFMax) {
		f.low = 0
	}
	if f.splitsEdited() {
		f.high = 0
	}
}

// render returns the fragment after the edits. First is its first byte before.
func (f *fragment) render(first byte) []byte {
	switch f.form {
	case object:
		if text := []byte(f.channel.edited(f.from, f.to)); jsonedit.Valid(text) {
			return text
		}
		return []byte("{}")
	case plain:
		return bytes.Map(func(r rune) rune {
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, []byte(f.channel.edited(f.from, f.to)))
	case tokens:
		if first == '[' {
			return []byte("[]")
		}
		return []byte("null")
	case signature:
		return []byte(`""`)
	default:
		return f.renderQuoted()
	}
}

func (f *fragment) renderQuoted() []byte {
	from := f.from
	out := []byte{'"'}
	if f.low != 0 && !f.channel.isEdited(from, from+utf8.UTFMax) {
		out = fmt.Appendf(out, `\u%04x`, f.low)
		from += utf8.UTFMax
	}
	text := jsonedit.Quote(f.channel.edited(from, f.to))
	out = append(out, text[1:len(text)-1]...)
	if f.high != 0 && !f.splitsEdited() {
		out = fmt.Appendf(out, `\u%04x`, f.high)
	}
	return append(out, '"')
}

// splitSurrogates returns the surrogate escapes at the beginning and at the end of a JSON string that
// are not part of a pair inside it.
func splitSurrogates(raw []byte) (low, high rune) {
	if len(raw) < 8 || bytes.IndexByte(raw, '\\') < 0 {
		return 0, 0
	}
	inner := raw[1 : len(raw)-1]
	if r, ok := surrogate(inner); ok && r >= lowSurrogates {
		low = r
	}
	at := len(inner) - 6
	r, ok := surrogate(inner[at:])
	if !ok || r >= lowSurrogates || isEscaped(inner, at) {
		return low, 0
	}
	return low, r
}

// isEscaped reports whether an odd number of backslashes precedes an offset.
func isEscaped(b []byte, at int) bool {
	n := 0
	for at-n > 0 && b[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}
