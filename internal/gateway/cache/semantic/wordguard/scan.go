package wordguard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isPrefix reports whether a character directly before a word is a part of it: "-v", ".net".
func isPrefix(r rune) bool { return r == '-' || r == '.' || r == '_' }

// isJoint reports whether a character between two characters of a word is a part of it.
func isJoint(r rune) bool { return strings.ContainsRune("._/@\\:", r) }

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

func isDash(r rune) bool { return strings.ContainsRune("-–—−", r) }

func isPunctuation(r rune) bool { return strings.ContainsRune(".?!:;", r) }

func startsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isWordRune(r)
}

func isCapital(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(r)
}

// wordLength returns the length of the word or number that text begins with: "1.2.3", "node.js",
// "c++", "don't", "e-mail". A unit directly after a number is a word of its own: "5kg" is "5".
func wordLength(text string) int {
	_, n := utf8.DecodeRuneInString(text)
	joins := joinsWord
	isNumber := startsNumber(strings.TrimPrefix(text, "-"))
	if isNumber {
		joins = joinsNumber
	}
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if isNumber && unicode.IsLetter(r) || !isWordRune(r) && !joins(text[:n], r, text[n+size:]) {
			return n
		}
		n += size
	}
	return n
}

// joinsNumber reports whether r, before rest, is part of a number.
func joinsNumber(_ string, r rune, rest string) bool {
	return strings.ContainsRune(".,:/", r) && rest != "" && isDigit(rune(rest[0]))
}

// joinsWord reports whether r, after the start of a word and before rest, is part of the word.
func joinsWord(start string, r rune, rest string) bool {
	switch {
	case r == '+' || r == '#' || r == '_':
		return true // C++, F#
	case r == '-':
		return len(start) == 1 && startsWord(rest) || start[0] == '-' // e-mail, --dry-run
	case isApostrophe(r):
		return isNegative(start, rest)
	}
	return isJoint(r) && startsWord(rest)
}

// isNegative reports whether an apostrophe is the one of "don't".
func isNegative(start, rest string) bool {
	after, ok := strings.CutPrefix(strings.ToLower(rest), "t")
	return ok && !startsWord(after) && strings.HasSuffix(strings.ToLower(start), "n")
}

// startsNumber reports whether a digit follows, after spaces.
func startsNumber(text string) bool {
	text = strings.TrimLeft(text, " ")
	return text != "" && isDigit(rune(text[0]))
}
