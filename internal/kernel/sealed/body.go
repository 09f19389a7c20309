package sealed

import (
	"bytes"
	"strings"
)

// Body returns a recorded request or response body with masked credentials: the values of the
// fields in bodyFields, {"tools":[{"authorization":"***"}]}. The body may be JSON, JSON lines,
// an event stream, a form of either type, or the beginning of one. Body also searches JSON
// inside strings. Other bytes are unchanged. contentType may be "". The body must not have a
// content encoding.
//
// The result is b itself when there is nothing to mask, which costs one pass and no memory,
// otherwise a new slice. b is not changed. Safe for concurrent use.
// Source: spec, secrets are not logged.
func Body(contentType string, b []byte) []byte {
	if strings.HasPrefix(contentType, "application/x-www-form-urlencoded") && !startsJSON(b) {
		return maskedForm(b)
	}
	if strings.HasPrefix(contentType, "multipart/") {
		return maskedParts(contentType, b)
	}
	return maskedText(contentType, b, 0, nil)
}

// Masked returns the path of a credential that Body masked in a JSON body, or "" for none:
// "tools[0].headers.X-Api-Key". A client that sent the body again would send *** instead.
func Masked(b []byte) string {
	var path string
	maskedText("application/json", b, 0, &path)
	return path
}

// maskedForm returns a form body with the values of secret fields masked.
func maskedForm(b []byte) []byte {
	text := string(b)
	pairs := strings.Trim(text, `"`) // a custom log contains the form as a JSON string
	if shown := maskedPairs(pairs); shown != pairs {
		return []byte(strings.Replace(text, pairs, shown, 1))
	}
	return b
}

// maxTextDepth is the maximum nesting of strings that are searched for JSON.
const maxTextDepth = 3

// maskedText is Body for everything except forms. It stores the path of the first masked
// credential in found, unless found is nil.
func maskedText(contentType string, b []byte, depth int, found *string) []byte {
	return maskedZone(contentType, b, depth, inBody, found)
}

// maskedZone is maskedText for a body that is part of a zone.
func maskedZone(contentType string, b []byte, depth int, zone bodyZone, found *string) []byte {
	if depth > maxTextDepth || opaque(contentType) && !startsJSON(b) || !mayHoldCredential(b) {
		return b
	}
	w := bodyWalk{b: b, nested: depth, zone: zone, found: found, events: !startsJSON(b)}
	w.run()
	if w.out == nil {
		return b
	}
	return append(w.out, b[w.copied:]...)
}

// opaque reports whether bodies of a content type have no fields.
func opaque(contentType string) bool {
	for _, kind := range [...]string{"audio/", "image/", "video/"} {
		if strings.HasPrefix(contentType, kind) {
			return true
		}
	}
	return false
}

func startsJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n\ufeff")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// mayHoldCredential reports whether a body contains a member, at any depth, with the name of a
// credential field. It checks the bytes before each colon.
func mayHoldCredential(b []byte) bool {
	for i := 0; ; i++ {
		next := bytes.IndexByte(b[i:], ':')
		if next < 0 {
			return false
		}
		if i += next; credentialName(b[:i]) {
			return true
		}
	}
}

// credentialName reports whether b ends with a quoted name of a credential field. The quotes
// may be escaped, as in JSON within a string. A name with an escape counts as a match.
func credentialName(b []byte) bool {
	k := len(b) - 1
	for k >= 0 && (b[k] == ' ' || b[k] == '\t' || b[k] == '\n' || b[k] == '\r') {
		k--
	}
	if k < 1 || b[k] != '"' {
		return false
	}
	for k--; k > 0 && b[k] == '\\'; k-- {
	}
	if k < 1 || !fieldEnds[pairOf(b[k-1], b[k])] && !escapeEnds(b[:k+1]) {
		return false
	}
	var flat [maxParam]byte
	index := len(flat)
	for ; k >= 0 && b[k] != '"' && index > 0; k-- {
		switch c := b[k]; {
		case c == '\\':
			return true
		case separator(c):
		default:
			index--
			flat[index] = lower(c)
		}
	}
	return fieldsByName[string(flat[index:])] != nil
}

// escapeEnds reports whether one of the last two characters of b is an escape: \u0079.
func escapeEnds(b []byte) bool {
	n := len(b)
	return n >= 7 && (b[n-6] == '\\' || b[n-7] == '\\')
}

// separator reports whether a byte separates the words of a name.
func separator(c byte) bool { return c == '-' || c == '_' || c == '.' || c == '/' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
