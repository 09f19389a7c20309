package duckdb

import (
	"encoding/json"
	"slices"
	"strings"
)

// metadata returns the JSON text of the pairs, sorted by key; empty for none. It is encoded by
// hand, because every row of a well-labelled service has metadata.
func (e *encoder) metadata(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	e.keys = e.keys[:0]
	for k := range m {
		e.keys = append(e.keys, k)
	}
	slices.Sort(e.keys)
	e.json = append(e.json[:0], '{')
	for i, k := range e.keys {
		if i > 0 {
			e.json = append(e.json, ',')
		}
		e.json = appendJSON(e.json, k)
		e.json = append(e.json, ':')
		e.json = appendJSON(e.json, m[k])
	}
	return string(append(e.json, '}'))
}

// appendJSON appends s as a JSON string.
func appendJSON(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			text, _ := json.Marshal(textParam(s)) // cannot fail on a string
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// metadataHint returns a string that the stored text of every attempt with a key contains. Other
// attempts may contain it too.
func metadataHint(key string) string { return string(appendJSON(nil, key)) + ":" }

// metadataPath returns the JSON pointer of a key.
func metadataPath(key string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(textParam(key))
}
