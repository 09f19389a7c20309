package sign

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
)

// appendQuery writes the escaped parameters, sorted by escaped name and then by value. It signs
// everything that is sent, like AWS. net/url would drop invalid parameters and those with a
// semicolon.
func appendQuery(b []byte, query string) []byte {
	if query == "" {
		return b
	}
	type parameter struct{ name, value string }
	var all []parameter
	for pair := range strings.SplitSeq(query, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			all = append(all, parameter{reescape(name), reescape(value)})
		}
	}
	slices.SortFunc(all, func(x, y parameter) int {
		return cmp.Or(strings.Compare(x.name, y.name), strings.Compare(x.value, y.value))
	})
	for i, p := range all {
		if i > 0 {
			b = append(b, '&')
		}
		b = append(append(append(b, p.name...), '='), p.value...)
	}
	return b
}

// reescape returns a name or value of a query with exactly the required escapes.
func reescape(text string) string {
	text = unescaped(text)
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		b = appendEscaped(b, text[i])
	}
	return string(b)
}

// appendEscaped writes one byte in the form of RFC 3986: all but letters, digits and "-._~"
// become an escape.
func appendEscaped(b []byte, c byte) []byte {
	const upper = "0123456789ABCDEF"
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
		return append(b, c)
	}
	return append(b, '%', upper[c>>4], upper[c&15])
}

// unescaped decodes a name or value of a query leniently: a plus is a space, and an invalid
// escape is unchanged.
func unescaped(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(text):
			if raw, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				c, i = raw[0], i+2
			}
		}
		b = append(b, c)
	}
	return string(b)
}
