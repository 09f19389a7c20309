// Package surrogates repairs JSON strings whose UTF-16 surrogates are incomplete, because a provider
// split a character between two events of a stream.
package surrogates

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// DecodeFragment is the text of a JSON string that is a fragment of a longer text. It is "" for
// anything else. Servers that split texts by UTF-16 units send one character in two fragments,
// "\ud83d" and "\ude00". A surrogate at an end of the fragment remains in the text as three bytes
// that are not UTF-8. Only a Joiner, to which the decoder passes its events, reads them.
func DecodeFragment(raw []byte) string {
	text, _ := jsonedit.Unquote(raw)
	if n := len(raw); n >= 2+escapeLen {
		if low := escape(raw[1:]); isLow(low) {
			text = encodeSurrogate(low) + text[replacementLen:]
		}
		if high := escape(raw[n-1-escapeLen:]); isHigh(high) && !escaping(raw[:n-1-escapeLen]) {
			text = text[:len(text)-replacementLen] + encodeSurrogate(high)
		}
	}
	return text
}

// ReplaceLone replaces surrogates at the ends of a decoded fragment with U+FFFD, for a
// fragment that nothing follows.
func ReplaceLone(fragment string) string { return strings.ToValidUTF8(fragment, replacement) }

const (
	escapeLen      = len(`\ud83d`)
	replacement    = string(utf8.RuneError)
	replacementLen = len(replacement) // as long as an encoded surrogate
)

func isHigh(r rune) bool { return r >= 0xD800 && r < 0xDC00 }
func isLow(r rune) bool  { return r >= 0xDC00 && r < 0xE000 }

// escape is the number of the \uXXXX at the start of b, -1 if there is none.
func escape(b []byte) rune {
	if b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:escapeLen]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// escaping reports whether b ends with a backslash that escapes the next character.
func escaping(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// encodeSurrogate encodes a surrogate in the form that UTF-8 would have for it.
func encodeSurrogate(r rune) string {
	return string([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
}

// surrogateAt is the surrogate at the start of text, -1 if there is none.
func surrogateAt(text string) rune {
	if len(text) < replacementLen || text[0] != 0xED || text[1] < 0xA0 || text[1] > 0xBF || text[2]&0xC0 != 0x80 {
		return -1
	}
	return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F)
}

// Joiner joins UTF-16 surrogate pairs that are split across two stream events. A first
// surrogate waits for the second. If the second never arrives, U+FFFD replaces the first. A decoder
// passes its events through it. The zero value is ready; it belongs to one goroutine.
type Joiner struct{ waiting []pendingSurrogate }

// maxPendingSurrogates is the maximum number of waiting surrogates, one in each open block. Every
// event searches them. Further ones become U+FFFD at once.
const maxPendingSurrogates = 128

// pendingSurrogate is the event whose last character is an unpaired surrogate.
type pendingSurrogate struct {
	llm.Event
	high rune
}

// Event passes an event to emit with its surrogate pairs joined. It omits an event without text left.
func (h *Joiner) Event(ev *llm.Event, emit func(*llm.Event)) {
	switch ev.Kind {
	case llm.EventText, llm.EventArguments:
		if !h.join(ev) {
			return
		}
	case llm.EventBlockEnd:
		h.end(emit, func(w *pendingSurrogate) bool { return w.Choice == ev.Choice && w.Block == ev.Block })
	case llm.EventEnd, llm.EventFault:
		h.end(emit, func(*pendingSurrogate) bool { return true })
	default: // has no text that is sent in fragments
	}
	emit(ev)
}

// join adds the waiting surrogate before the text of an event and removes the one at its end. It
// reports whether any text is left.
func (h *Joiner) join(ev *llm.Event) bool {
	n := len(ev.Text)
	low, high := surrogateAt(ev.Text), rune(-1)
	if n >= replacementLen {
		high = surrogateAt(ev.Text[n-replacementLen:])
	}
	if len(h.waiting) == 0 && !isLow(low) && !isHigh(high) {
		return true
	}
	if isHigh(high) {
		ev.Text = ev.Text[:n-replacementLen]
	}
	first := h.take(ev)
	switch {
	case isLow(low) && first >= 0:
		ev.Text = string(utf16.DecodeRune(first, low)) + ev.Text[replacementLen:]
	case isLow(low):
		ev.Text = replacement + ev.Text[replacementLen:]
	case first >= 0:
		ev.Text = replacement + ev.Text
	}
	switch {
	case isHigh(high) && len(h.waiting) == maxPendingSurrogates:
		ev.Text += replacement
	case isHigh(high):
		h.waiting = append(h.waiting, pendingSurrogate{*ev, high})
	}
	return ev.Text != ""
}

// take removes and returns the surrogate that waits in the block of an event, -1 if there is none.
func (h *Joiner) take(ev *llm.Event) rune {
	for i := range h.waiting {
		if w := &h.waiting[i]; w.Choice == ev.Choice && w.Block == ev.Block {
			high := w.high
			h.waiting = append(h.waiting[:i], h.waiting[i+1:]...)
			return high
		}
	}
	return -1
}

// end emits U+FFFD for surrogates that nothing follows.
func (h *Joiner) end(emit func(*llm.Event), belongs func(*pendingSurrogate) bool) {
	left := h.waiting[:0]
	for i := range h.waiting {
		w := h.waiting[i]
		if !belongs(&w) {
			left = append(left, w)
			continue
		}
		w.Text = replacement
		emit(&w.Event)
	}
	h.waiting = left
}
