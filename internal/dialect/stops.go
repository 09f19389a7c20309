package dialect

import (
	"sluice/internal/splice"
)

// Stops is a list of stop sequences, or one, as a list without those that a provider refuses: none
// takes an empty one, and Claude none of white space alone. It is nil when none are left; what is
// neither a text nor a list of them stays as it is, for the provider to judge.
// Source: https://platform.claude.com/docs/en/api/messages, stop_sequences, read 2026-11.
func Stops(raw []byte, blank bool) []byte {
	isSupported := func(val []byte) bool {
		text, isText := splice.Unquote(val)
		return !isText || text != "" && (blank || !IsBlank(text))
	}
	var w JSON
	w.Open('[')
	empty := len(w.B)
	if !isList(raw) {
		if isSupported(raw) {
			w.Value(raw)
		}
	} else {
		for val := range splice.Elements(raw) {
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
