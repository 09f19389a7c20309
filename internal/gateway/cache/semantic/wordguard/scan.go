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
	first, n := utf8.DecodeRuneInString(text)
	inNumber := isDigit(first) || first == '-' && len(text) > 1 && isDigit(rune(text[1]))
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		rest := text[n+size:]
		switch {
		case inNumber && unicode.IsLetter(r):
			return n
		case isWordRune(r):
		case inNumber && strings.ContainsRune(".,:/", r) && rest != "" && isDigit(rune(rest[0])):
		case !inNumber && joins(text[:n], r, rest):
		default:
			return n
		}
		n += size
	}
	return n
}

// joins reports whether r, after the start of a word and before rest, is part of the word.
func joins(start string, r rune, rest string) bool {
	switch {
	case r == '+' || r == '#':
		return true // C++, F#
	case r == '-':
		return len(start) == 1 && startsWord(rest) || start[0] == '-' // e-mail, --dry-run
	case isApostrophe(r):
		return strings.HasSuffix(strings.ToLower(start), "n") && (rest == "t" || strings.HasPrefix(rest, "t") && !startsWord(rest[1:]))
	}
	return isJoint(r) && startsWord(rest) || r == '_'
}

// startsNumber reports whether a digit follows, after spaces.
func startsNumber(text string) bool {
	text = strings.TrimLeft(text, " ")
	return text != "" && isDigit(rune(text[0]))
}
