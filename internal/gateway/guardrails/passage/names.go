package passage

import (
	"bytes"
	"unicode/utf8"
)

// maxName is the maximum length of names with a rule. Longer names do not have one.
const maxName = 64

// foldName appends a member name in the form of the rules: lower case, without underscores and
// hyphens, "reasoning_content" and "reasoningContent" as "reasoningcontent". Some readers ignore
// the case of names, also that of U+017F and U+212A, and Google's read both spellings. A text must
// not hide from the rules under another spelling.
func foldName(dst, name []byte) []byte {
	if len(name) > 2*maxName {
		return dst
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-':
		case 'A' <= c && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(name[i:])
			switch r {
			case 'ſ':
				dst = append(dst, 's')
			case '\u212a': // Kelvin sign
				dst = append(dst, 'k')
			default:
				dst = append(dst, name[i:i+n]...)
			}
			i += n - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// isDataURL reports whether a raw string is a data URL with base64 data only:
// "data:image/png;base64,iVBORw0KGgo=".
func isDataURL(raw []byte) bool {
	const scheme, base64 = `"data:`, ";base64,"
	if len(raw) < len(scheme) || string(raw[:len(scheme)]) != scheme {
		return false
	}
	head := raw[len(scheme):min(len(raw), 128)]
	i := bytes.Index(head, []byte(base64))
	if i < 0 {
		return false
	}
	for _, c := range raw[len(scheme)+i+len(base64) : len(raw)-1] {
		if !isBase64(c) {
			return false
		}
	}
	return true
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}
