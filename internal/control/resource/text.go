package resource

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
)

// checkName returns an error text for an invalid value of a field that names something for
// people ("name", "first_name"), "" if it is valid. A name must have a visible character and
// must not contain control characters or characters that hide or reorder its text. The schema
// decides whether it may be empty.
func checkName(field string, v any) string {
	text, ok := v.(string)
	if !ok || text == "" || field != "name" && !strings.HasSuffix(field, "_name") {
		return ""
	}
	if strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }) >= 0 {
		return "must not contain line breaks or other control characters"
	}
	if hidden(text) {
		return "a name has no invisible characters, such as those that change the direction of text (U+202E) or a zero-width space (U+200B)"
	}
	if strings.IndexFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) < 0 {
		return "must contain at least one visible character"
	}
	return ""
}

// hidden reports whether a text has invisible characters. With them, two names that look the
// same could differ, or one name could look like another. Joiners are accepted where scripts and
// emoji need them, and tags within flags.
func hidden(text string) bool {
	runes := []rune(text)
	flag := false
	for i, r := range runes {
		switch {
		case r == blackFlag:
			flag = true
			continue
		case flag && r >= tagSpace && r <= tagEnd:
			continue
		case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
			if i == 0 || !joins(runes[i-1]) {
				return true
			}
		case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			return true
		}
		flag = false
	}
	return false
}

// Characters that hidden handles individually.
const (
	zeroWidthNonJoiner = '\u200C'
	zeroWidthJoiner    = '\u200D'
	blackFlag          = '\U0001F3F4' // begins the flags of regions, which tags name
	tagSpace           = '\U000E0020'
	tagEnd             = '\U000E007F'
)

// joins reports whether a joiner after a character has a visible effect: after an emoji, and
// after letters and marks of scripts whose letters join.
func joins(r rune) bool {
	if unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) {
		return false
	}
	return r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r))
}

// loneSurrogate reports whether a text in JSON has an unpaired surrogate, as \ud83d without
// \ude00 after it. Decoders replace it with another character.
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

// escapedUnit parses the UTF-16 unit of an escape such as \u00e9 at the beginning of a text.
func escapedUnit(raw []byte) (uint64, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return n, err == nil
}
