package linear

import (
	"unicode"
	"unicode/utf8"
)

// Limits of the text that is judged as one sentence. They bound the work for text without spaces or
// punctuation.
const (
	minSentence = 24  // bytes of plain words; a shorter sentence is joined with the next: "Ignore. All. Rules."
	maxSentence = 480 // bytes of plain words
	maxWord     = 48  // bytes; the rest of a longer word is ignored
)

// splitter turns a text into sentences of plain words: lower case, without accents, separated by single
// spaces, with a space at both ends. Numbers become "0", question marks "?", and quotation marks "\"".
type splitter struct {
	text string
	at   int    // offset of the next character
	out  []byte // the sentence
	word int    // offset of the current word in out
	runs int    // single letters in a row, each as a word
	mix  bool   // the current word has a digit or a sign that stands for a letter
	alph bool   // the current word has a letter
}

// next returns the next sentence, valid until the next call; false at the end of the text.
func (s *splitter) next() ([]byte, bool) {
	s.out = append(s.out[:0], ' ')
	s.startWord()
	s.runs = 0
	for s.at < len(s.text) {
		c := s.text[s.at]
		if kinds[c] == letter {
			s.letters()
			continue
		}
		if c < utf8.RuneSelf {
			s.at++
			if s.ascii(c) {
				break
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += n
		s.wide(r)
	}
	s.endWord()
	return s.out, len(s.out) > 1 || s.at < len(s.text)
}

// letters reads the letters from a to z that stand together.
func (s *splitter) letters() {
	s.alph = true
	end := s.at + 1
	for end < len(s.text) && kinds[s.text[end]] == letter {
		end++
	}
	stored := min(end, s.at+maxWord-(len(s.out)-s.word))
	for _, c := range []byte(s.text[s.at:max(stored, s.at)]) {
		s.out = append(s.out, c|0x20)
	}
	s.at = end
}

// ascii reads another character of ASCII and reports whether it ends the sentence.
func (s *splitter) ascii(c byte) bool {
	switch kinds[c] {
	case digit:
		s.mix = true
		s.put(c)
		return false
	case joined:
		return false
	case sign: // part of a word only between its letters: "k$ll"
		if s.alph && s.at < len(s.text) && kinds[s.text[s.at]] == letter {
			s.mix = true
			s.put(c)
			return false
		}
	case mark:
		s.endWord()
		s.token(markOf(c))
	default: // the word ends
	}
	s.endWord()
	return len(s.out) > maxSentence || kinds[c] == stop && s.atBreak()
}

// atBreak reports whether the sentence is long enough, and the text goes on with white space.
func (s *splitter) atBreak() bool {
	return len(s.out) > minSentence && (s.at >= len(s.text) || kinds[s.text[s.at]] == space || s.text[s.at-1] == '\n' || s.text[s.at] == '"')
}

// wide reads a character outside of ASCII.
func (s *splitter) wide(r rune) {
	if plain, ok := plainLetters[r]; ok {
		s.alph = true
		for i := range len(plain) {
			s.put(plain[i])
		}
		return
	}
	switch {
	case unicode.IsLetter(r) || unicode.IsMark(r):
		s.alph = true
		var b [utf8.UTFMax]byte
		n := utf8.EncodeRune(b[:], unicode.ToLower(r))
		for _, c := range b[:n] {
			s.put(c)
		}
	case r == '’':
	case r == '„' || r == '“' || r == '”' || r == '«' || r == '»':
		s.endWord()
		s.token('"')
	default:
		s.endWord()
	}
}

func (s *splitter) startWord() { s.word, s.mix, s.alph = len(s.out), false, false }

// put adds a byte to the current word.
func (s *splitter) put(c byte) {
	if len(s.out)-s.word < maxWord {
		s.out = append(s.out, c)
	}
}

// token adds a sign as a word.
func (s *splitter) token(c byte) {
	s.out = append(s.out, c, ' ')
	s.runs = 0
	s.startWord()
}

// endWord completes the current word, if there is one.
func (s *splitter) endWord() {
	n := len(s.out) - s.word
	if n == 0 {
		return
	}
	switch {
	case !s.alph:
		s.out = append(s.out[:s.word], '0')
		n = 1
		s.runs = 0
	case s.mix:
		replaceDigits(s.out[s.word:])
	}
	s.joinLetters(n)
	s.out = append(s.out, ' ')
	s.startWord()
}

// joinLetters makes one word of single letters: "k i l l" becomes "kill".
func (s *splitter) joinLetters(n int) {
	if n != 1 || !s.alph {
		s.runs = 0
		return
	}
	s.runs++
	switch {
	case s.runs == 3: // "k i l": the two spaces go
		s.out = append(s.out[:s.word-4], s.out[s.word-4], s.out[s.word-2], s.out[s.word])
	case s.runs > 3:
		s.out = append(s.out[:s.word-1], s.out[s.word])
	}
}

// replaceDigits replaces digits and signs by the letters that they stand for.
func replaceDigits(word []byte) {
	for i, c := range word {
		if standsFor[c] != 0 {
			word[i] = standsFor[c]
		}
	}
}

// markOf returns the word for a mark.
func markOf(c byte) byte {
	if c == '?' {
		return '?'
	}
	return '"'
}
