package resource

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
)

// checkName says what is wrong with the value of a field that names something for people
// ("name", "first_name"), "" when nothing is: a name has a visible character and no control
// characters. Whether it may be empty says the schema.
func checkName(field string, v any) string {
	text, ok := v.(string)
	if !ok || text == "" || field != "name" && !strings.HasSuffix(field, "_name") {
		return ""
	}
	if strings.IndexFunc(text, unicode.IsControl) >= 0 {
		return "a name has no line breaks or other control characters"
	}
	if strings.IndexFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) < 0 {
		return "a name has at least one visible character"
	}
	return ""
}

// loneSurrogate reports whether a text in JSON has half of a surrogate pair, as \ud83d
// without \ude00 after it. Decoders put another character in its place.
func loneSurrogate(raw []byte) bool {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			return false
		}
		raw = raw[i:]
		unit, ok := escapedUnit(raw)
		switch {
		case !ok:
			raw = raw[2:]
			continue
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit < 0xD800 || unit > 0xDBFF:
			raw = raw[6:]
			continue
		}
		low, ok := escapedUnit(raw[6:])
		if !ok || low < 0xDC00 || low > 0xDFFF {
			return true
		}
		raw = raw[12:]
	}
}

// escapedUnit is the UTF-16 unit of an escape such as \u00e9 at the beginning of a text.
func escapedUnit(raw []byte) (uint64, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return n, err == nil
}
