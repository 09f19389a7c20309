// Package jsonscan inspects raw JSON by searching its bytes, without parsing the document. It is for
// the stream events that dialects relay, most of which contain nothing of interest.
package jsonscan

import (
	"bytes"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// IsObject reports whether a raw value is an object.
func IsObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// IsList reports whether a raw value is a list.
func IsList(raw []byte) bool { return len(raw) > 0 && raw[0] == '[' }

// ValueAfter returns what follows the first key in data and its colon, or nil if the key is
// absent. It does not match inside a string, because quotes are escaped there. The search skips
// the first quote of the key: JSON has a quote every few bytes, and each would be a candidate.
func ValueAfter(data, key []byte) []byte {
	for pos := 0; ; {
		i := bytes.Index(data[pos:], key[1:])
		if i < 0 {
			return nil
		}
		i += pos
		pos = i + len(key) - 1
		if i == 0 || data[i-1] != key[0] {
			continue
		}
		for ; pos < len(data) && (data[pos] == ' ' || data[pos] == ':'); pos++ {
		}
		return data[pos:]
	}
}

// HasValue reports whether data contains a key with a value other than null. It avoids parsing
// the chunks that contain "usage":null.
func HasValue(data, key []byte) bool {
	for v := ValueAfter(data, key); v != nil; v = ValueAfter(v, key) {
		if len(v) == 0 || v[0] != 'n' {
			return true
		}
	}
	return false
}

// IsEmpty reports whether a raw value is null or empty.
func IsEmpty(raw []byte) bool {
	switch string(raw) {
	case "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// FindPath follows a dotted path.
func FindPath(raw []byte, path string) []byte {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		raw, _ = jsonedit.Find(raw, key)
	}
	return raw
}
