package embedding

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWordRunes is the longest word, in characters, that BERT spells; longer ones are unknown.
const maxWordRunes = 100

// scanner splits a text into words as uncased BERT does: lower case, without accents and control
// characters; each punctuation mark and each CJK character is a word of its own. Source:
// BasicTokenizer of https://github.com/google-research/bert/blob/master/tokenization.py.
type scanner struct {
	text string // not read yet

	parts     [4]rune // decomposition of the character before text
	part, end int     // parts[part:end] are not read yet

	held  rune // read, but part of the next word; 0 for none
	runes int  // characters of the word
	bytes int
	chars [maxWordRunes * utf8.UTFMax]byte
}

// class is how a character splits words.
type class uint8

const (
	letter class = iota // part of a word
	space               // between two words
	single              // a word of its own
	ignored
)

// next moves to the next word. It reports false at the end of the text.
func (s *scanner) next() bool {
	s.runes, s.bytes = 0, 0
	for {
		r, ok := s.read()
		if !ok {
			return s.runes > 0
		}
		switch classify(r) {
		case letter:
			s.add(unicode.ToLower(r))
		case space:
			if s.runes > 0 {
				return true
			}
		case single:
			if s.runes > 0 {
				s.held = r
				return true
			}
			s.add(r)
			return true
		case ignored:
		}
	}
}

// word returns the current word. It is valid until next, and empty if the word is too long.
func (s *scanner) word() []byte {
	if s.runes > maxWordRunes {
		return nil
	}
	return s.chars[:s.bytes]
}

func (s *scanner) add(r rune) {
	s.runes++
	if s.runes <= maxWordRunes {
		s.bytes += utf8.EncodeRune(s.chars[s.bytes:], r)
	}
}

// read returns the next character of the decomposed text, so "é" is "e" and an accent.
func (s *scanner) read() (r rune, ok bool) {
	switch {
	case s.held != 0:
		r, s.held = s.held, 0
	case s.part < s.end:
		r = s.parts[s.part]
		s.part++
	case s.text == "":
		return 0, false
	case s.text[0] < utf8.RuneSelf:
		r, s.text = rune(s.text[0]), s.text[1:]
	default:
		r = s.decompose()
	}
	return r, true
}

// decompose reads a character outside ASCII. It returns its first part and leaves the others in
// s.parts. The longest canonical decomposition has four.
func (s *scanner) decompose() rune {
	r, size := utf8.DecodeRuneInString(s.text)
	source := s.text
	s.text = s.text[size:]
	if syllable := r - firstSyllable; syllable >= 0 && syllable < syllables {
		return s.decomposeHangul(syllable)
	}
	decomposition := norm.NFD.PropertiesString(source).Decomposition()
	if len(decomposition) == 0 {
		return r
	}
	s.part, s.end = 1, 0
	for len(decomposition) > 0 && s.end < len(s.parts) {
		part, n := utf8.DecodeRune(decomposition)
		s.parts[s.end] = part
		s.end++
		decomposition = decomposition[n:]
	}
	return s.parts[0]
}

// Hangul syllables are decomposed by arithmetic. Source: Unicode standard, section 3.12.
const (
	firstSyllable = 0xAC00
	syllables     = 11172
	firstLeading  = 0x1100
	firstVowel    = 0x1161
	firstTrailing = 0x11A7
	vowels        = 21
	trailings     = 28
)

func (s *scanner) decomposeHangul(syllable rune) rune {
	s.part, s.end = 0, 1
	s.parts[0] = firstVowel + syllable/trailings%vowels
	if trailing := syllable % trailings; trailing > 0 {
		s.parts[1] = firstTrailing + trailing
		s.end = 2
	}
	return firstLeading + syllable/(trailings*vowels)
}

// classify returns the class of a decomposed character.
func classify(r rune) class {
	if r < utf8.RuneSelf {
		return classifyASCII(byte(r))
	}
	switch {
	case r == utf8.RuneError, unicode.Is(unicode.C, r), unicode.Is(unicode.Mn, r):
		return ignored
	case unicode.IsSpace(r):
		return space
	case unicode.Is(unicode.P, r), unicode.Is(ideographs, r):
		return single
	}
	return letter
}

func classifyASCII(c byte) class {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return letter
	case c == ' ', c == '\t', c == '\n', c == '\r':
		return space
	case c < ' ', c == 0x7F:
		return ignored
	}
	return single // including $, +, <, =, >, ^, `, | and ~, which Unicode counts as symbols
}

// ideographs are the characters that BERT separates as Chinese. Hangul, Hiragana and Katakana are
// not among them: they are written with words or stay together.
var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x3400, Hi: 0x4DBF, Stride: 1},
		{Lo: 0x4E00, Hi: 0x9FFF, Stride: 1},
		{Lo: 0xF900, Hi: 0xFAFF, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x20000, Hi: 0x2A6DF, Stride: 1},
		{Lo: 0x2A700, Hi: 0x2B73F, Stride: 1},
		{Lo: 0x2B740, Hi: 0x2B81F, Stride: 1},
		{Lo: 0x2B820, Hi: 0x2CEAF, Stride: 1},
		{Lo: 0x2F800, Hi: 0x2FA1F, Stride: 1},
	},
}
