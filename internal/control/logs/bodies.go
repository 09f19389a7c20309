package logs

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"sluice/internal/domain/record"
)

// maxShown limits a body in a response, in bytes after decompression.
const maxShown = 4 << 20

// readable returns a stored body as responses show it: JSON unchanged, text as a string,
// anything else in base64 after its type ("data:audio/mpeg;base64,…"). It is nil if nothing was
// stored.
func readable(b record.Body) any {
	if len(b.Bytes) == 0 {
		return nil
	}
	plain := b.Plain(maxShown)
	switch {
	case json.Valid(plain):
		return json.RawMessage(plain)
	case utf8.Valid(trimPartialRune(plain)):
		return string(trimPartialRune(plain))
	}
	kind, _, _ := strings.Cut(b.Type, ";")
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(plain)
}

// trimPartialRune removes an incomplete character at the end of a truncated text.
func trimPartialRune(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}
