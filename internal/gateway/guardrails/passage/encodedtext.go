package passage

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// encodedText reads a file in base64, with or without the head of a data URL. A file of plain text is a
// passage. Images, sound and PDF have no text that can be read here.
func (w *walker) encodedText(a around) {
	start := w.offset()
	if w.r.Kind() != '"' {
		return
	}
	raw := w.r.Raw()
	if len(raw) < len(`""`) {
		return
	}
	head, data := cutDataURL(raw[1 : len(raw)-1])
	text, ok := decodeText(data)
	if !ok {
		return
	}
	w.add(Passage{Text: text}, spot{start: start + 1 + head, end: start + len(raw) - 1, coding: base64Text}, a)
}

// cutDataURL returns the length of the head of a data URL, "data:text/plain;base64,", and the data after
// it. The length is 0 for other texts.
func cutDataURL(raw []byte) (head int, data []byte) {
	const mark = ";base64,"
	if len(raw) < len("data:") || !strings.EqualFold(string(raw[:len("data:")]), "data:") {
		return 0, raw
	}
	i := bytes.Index(raw[:min(len(raw), maxDataURLHead)], []byte(mark))
	if i < 0 {
		return 0, raw
	}
	return i + len(mark), raw[i+len(mark):]
}

// maxDataURLHead is the length in which the head of a data URL ends.
const maxDataURLHead = 256

// textHead is the length of the base64 by which a text is distinguished from other data: a multiple of 4.
const textHead = 1024

// decodeText decodes base64 of a plain text. It reports false for other data.
func decodeText(data []byte) (text string, ok bool) {
	if len(data) == 0 {
		return "", false
	}
	head, ok := decodeBase64(data[:min(len(data), textHead)])
	if !ok || !isPlain(head) || bytes.HasPrefix(head, []byte("%PDF-")) {
		return "", false
	}
	all, ok := decodeBase64(data)
	return string(all), ok && utf8.Valid(all)
}

// decodeBase64 decodes the alphabets of RFC 4648, with or without padding. JSON may escape a slash.
func decodeBase64(data []byte) ([]byte, bool) {
	plain := jsonedit.AppendUnquoted(nil, append(append([]byte{'"'}, data...), '"'))
	plain = bytes.TrimRight(plain, "=")
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(plain, "-_") {
		encoding = base64.RawURLEncoding
	}
	out := make([]byte, encoding.DecodedLen(len(plain)))
	n, err := encoding.Decode(out, plain)
	return out[:n], err == nil
}

// isPlain reports whether the beginning of data is a text: UTF-8 without control characters. It may end
// inside of a character.
func isPlain(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		switch {
		case r == utf8.RuneError && n == 1:
			return !utf8.FullRune(head)
		case r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f':
			return false
		}
		head = head[n:]
	}
	return true
}
