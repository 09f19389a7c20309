package sealed

import (
	"bytes"
	"strings"
)

// Body is a kept request or response body with the credentials in it masked: values of the
// fields that bodyFields lists, {"tools":[{"authorization":"***"}]}. The body may be JSON,
// lines of JSON, a stream of events, a form of either kind, or the beginning of one;
// JSON in texts is looked into. Other bytes stay as they are. Type is its content type, ""
// when there is none; the body is without a content encoding.
//
// It is b itself when there is nothing to mask, which costs one pass and no memory, else a
// new slice. B is not changed. Safe for concurrent use.
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

// Masked is the path of a credential that Body masked in a JSON body, "" for none:
// "tools[0].headers.X-Api-Key". Who sends the body again would send *** in its place.
func Masked(b []byte) string {
	var path string
	maskedText("application/json", b, 0, &path)
	return path
}

// maskedForm is a form body with the values of secret fields masked.
func maskedForm(b []byte) []byte {
	text := string(b)
	pairs := strings.Trim(text, `"`) // a custom log has it as a JSON text
	if shown := maskedPairs(pairs); shown != pairs {
		return []byte(strings.Replace(text, pairs, shown, 1))
	}
	return b
}

// maxTextDepth is how many texts within texts are looked into for JSON.
const maxTextDepth = 3

// maskedText is Body for anything but forms. The path of the first credential that is
// masked already goes to found, if there is one.
func maskedText(contentType string, b []byte, depth int, found *string) []byte {
	return maskedZone(contentType, b, depth, inBody, found)
}

// maskedZone is maskedText for a body that is a part of a zone.
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

// opaque reports whether a content type is one of bodies without fields.
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

// mayHoldCredential reports whether a body has a member whose name is that of a credential
// field, wherever it stands. It looks at what stands before each colon.
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

// credentialName reports whether b ends with a quoted name of a credential field. Quotes may
// be escaped, as they are in JSON within a text; a name with an escape in it counts.
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

// separator reports whether a byte is between the words of a name.
func separator(c byte) bool { return c == '-' || c == '_' || c == '.' || c == '/' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
