package conversation

import (
	"sluice/internal/dialect/jsonscan"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// Stops converts one stop sequence, or a list of them, to a list without the sequences that a provider
// rejects. No provider accepts an empty one, and Claude accepts none of only white space. It is nil if
// none are left. Any other value remains unchanged, for the provider to check.
// Source: https://platform.claude.com/docs/en/api/messages, stop_sequences, read 2026-11.
func Stops(raw []byte, blank bool) []byte {
	isSupported := func(val []byte) bool {
		text, isText := jsonedit.Unquote(val)
		return !isText || text != "" && (blank || !IsBlank(text))
	}
	var w jsonwriter.Writer
	w.Open('[')
	empty := len(w.B)
	if !jsonscan.IsList(raw) {
		if isSupported(raw) {
			w.Value(raw)
		}
	} else {
		for val := range jsonedit.Elements(raw) {
			if isSupported(val) {
				w.Value(val)
			}
		}
	}
	if len(w.B) == empty {
		return nil
	}
	w.Close(']')
	return w.B
}
