package pii

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxNameWords bounds the words of a name.
const maxNameWords = 6

// nameWord is a word of a possible name.
type nameWord struct {
	end     int
	kind    nameKind
	initial bool // "J."
}

// possibleName is a sequence of capitalised words.
type possibleName struct {
	words [maxNameWords]nameWord
	count int
	// particles reports whether particles such as "de la" are between the words.
	particles bool
}

// nameAt finds the name that begins with the capitalised word at i. A title, an introduction such as
// "my name is", or known given names and surnames decide. A given name alone is found only after a title
// or an introduction: too many are words, places and products.
func (s *scanner) nameAt(i int) (start, end int, ok bool) {
	if i > 0 && strings.IndexByte("-'@#/\\_.&$", s.text[i-1]) >= 0 {
		return 0, 0, false
	}
	first, kind := s.firstWord(i)
	if kind&excluded != 0 {
		return 0, 0, false
	}
	var p possibleName
	s.readName(first, kind, &p)
	n := p.length()
	if n == 0 {
		return 0, 0, false
	}
	switch {
	case kind&strongTitle != 0, kind&weakTitle != 0 && p.words[0].kind&(givenName|surname) != 0:
		return first, p.words[n-1].end, true
	case kind&anyTitle == 0 && s.isIntroduced(i, &p, n), n > 1 && p.isKnown(!s.startsSentence(i)):
		return i, p.words[n-1].end, true
	}
	return 0, 0, false
}

// firstWord returns the start of the word after titles such as "Herr Dr." at i, the kinds of the titles,
// and the other kinds of that word. A title that no word follows is not a name.
func (s *scanner) firstWord(i int) (start int, kind nameKind) {
	start = i
	for range maxTitles {
		end := s.nameWordEnd(start)
		k := wordKind(s.text[start:end])
		if k&anyTitle == 0 {
			return start, kind | k
		}
		next := s.afterTitle(end)
		if next < 0 && k&strongTitle != 0 {
			return start, excluded
		}
		if next < 0 {
			return start, kind | k&^anyTitle
		}
		start, kind = next, kind|k&anyTitle
	}
	return start, excluded
}

// maxTitles bounds the words of which all but the last are titles.
const maxTitles = 4

// afterTitle returns the start of the capitalised word after a title that ends at end, -1 without one.
func (s *scanner) afterTitle(end int) int {
	if s.byteAt(end) == '.' {
		end++
	}
	if s.byteAt(end) != ' ' || classes[s.byteAt(end+1)] != upper {
		return -1
	}
	return end + 1
}

// length returns the number of words up to the first excluded one.
func (p *possibleName) length() int {
	n := 0
	for n < p.count && p.words[n].kind&excluded == 0 {
		n++
	}
	for n > 1 && p.words[n-1].initial {
		n--
	}
	return n
}

// isKnown reports whether the words of a name are a given name and a surname.
func (p *possibleName) isKnown(insideSentence bool) bool {
	first, second := p.words[0], p.words[1].kind
	if p.words[1].initial && p.count > 2 {
		second = p.words[2].kind
	}
	switch {
	case isOnly(first.kind, givenName):
		return second&plainWord == 0 || second&(surname|givenName) != 0
	case isOnly(second, surname) && (first.initial || first.kind&givenName != 0):
		return true
	}
	return insideSentence && p.isLikely(first.kind, second)
}

// isLikely reports whether two words inside of a sentence are a name: an ordinary word that is a given
// name too, or an unknown one, with a surname.
func (p *possibleName) isLikely(first, second nameKind) bool {
	if first&givenName != 0 {
		return second&surname != 0 || isOnly(second, givenName)
	}
	return !p.particles && isOnly(second, surname) && (first == 0 || isOnly(first, surname))
}

// isOnly reports whether a word is of a kind and not an ordinary word too.
func isOnly(word, kind nameKind) bool { return word&kind != 0 && word&plainWord == 0 }

// readName reads capitalised words that single spaces separate; the first has a known kind. Particles
// such as "de la" may be between them.
func (s *scanner) readName(i int, kind nameKind, p *possibleName) {
	for p.count < maxNameWords {
		end := s.nameWordEnd(i)
		word := s.text[i:end]
		if !isCapital(word) {
			return
		}
		w := nameWord{end: end, kind: kind}
		switch {
		case len(word) == 1 && end < len(s.text) && s.text[end] == '.':
			w = nameWord{end: end + 1, initial: true}
		case p.count > 0:
			w.kind = wordKind(word)
		}
		p.words[p.count] = w
		p.count++
		next := s.skipParticles(w.end)
		p.particles = p.particles || next > w.end+1
		if i = next; i < 0 {
			return
		}
	}
}

// nameWordEnd returns the end of a word with hyphens and apostrophes, without a possessive "'s".
func (s *scanner) nameWordEnd(i int) int {
	end := i
	for b := s.byteAt(end); isLetter(b) || end > i && (b == '-' || b == '\'') && isLetter(s.byteAt(end+1)); b = s.byteAt(end) {
		if end++; end-i == maxWordBytes {
			break
		}
	}
	for isContinuation(s.byteAt(end)) && end > i {
		end-- // a character is not cut
	}
	return i + len(strings.TrimSuffix(s.text[i:end], "'s"))
}

// skipParticles returns the start of the capitalised word after a space and particles, -1 without one.
func (s *scanner) skipParticles(i int) int {
	for n := 0; i+1 < len(s.text) && s.text[i] == ' '; n++ {
		i++
		if classes[s.text[i]] == upper {
			return i
		}
		end := s.nameWordEnd(i)
		if n == 3 || !nameParticles[s.text[i:end]] {
			return -1
		}
		i = end
	}
	return -1
}

// wordKind returns what a word can be. A word with hyphens is what its parts are; an abbreviation is
// excluded.
func wordKind(word string) nameKind {
	var buf [maxWordBytes]byte
	table := nameKinds()
	lowered := lowerWord(word, &buf)
	if kind, ok := table[string(lowered)]; ok {
		return kind | capitals(word)
	}
	if at := bytes.IndexByte(lowered, '-'); at > 0 {
		a, b := table[string(lowered[:at])], table[string(lowered[at+1:])]
		if a == 0 || b == 0 {
			return 0
		}
		return (a|b)&^plainWord | a&b&plainWord
	}
	if len(lowered) > 4 && (lowered[1] == '\'' || string(lowered[:2]) == "mc") { // "O'Hara", "McAllister"
		return surname
	}
	return capitals(word)
}

// capitals returns excluded for words in capital letters only: abbreviations.
func capitals(word string) nameKind {
	for i := range len(word) {
		if word[i]-'a' <= 'z'-'a' || word[i] >= 0x80 {
			return 0
		}
	}
	if len(word) > 1 {
		return excluded
	}
	return 0
}

// isIntroduced reports whether the words before i introduce a name of n words.
func (s *scanner) isIntroduced(i int, p *possibleName, n int) bool {
	start, cue, mark := s.cueWord(i)
	isFull := n > 1 || p.hasKnown(n)
	switch {
	case mark == ':':
		return cue&nameLabel != 0 && isFull
	case mark == ',':
		return cue&farewell != 0 && isFull
	case cue&copula != 0:
		_, cue, _ = s.cueWord(start)
		return cue&nameNoun != 0
	case cue&(salutation|agent) != 0 && p.hasKnown(n):
		return n > 1 || cue&salutation != 0
	}
	return cue&introduction != 0
}

// hasKnown reports whether the first n words have a known name that is not another word too, or begin
// with a given name or end with a surname.
func (p *possibleName) hasKnown(n int) bool {
	if n > 1 && (p.words[0].kind&givenName != 0 || p.words[n-1].kind&surname != 0) {
		return true
	}
	for _, w := range p.words[:n] {
		if isOnly(w.kind, givenName|surname) {
			return true
		}
	}
	return false
}

// cueWord returns the start of the word before i, how it introduces names, and the sign between them:
// ':' also for quotes of JSON, ',' also at the end of a line, or ' '.
func (s *scanner) cueWord(i int) (start int, cue cueKind, mark byte) {
	end, mark := i, byte(' ')
	for n := 0; n < 4 && isCueGap[s.byteAt(end-1)]; n++ {
		if b := s.text[end-1]; b == ':' || b == ',' {
			mark = b
		}
		end--
	}
	start = s.wordStart(end)
	var buf [maxWordBytes]byte
	return start, nameCues[string(lowerWord(s.text[start:end], &buf))], mark
}

// isCueGap has the bytes between a name and the word that introduces it.
var isCueGap = [256]bool{' ': true, '"': true, '\n': true, '=': true, ':': true, ',': true}

// startsSentence reports whether a sentence or line begins at i.
func (s *scanner) startsSentence(i int) bool {
	for b := s.byteAt(i - 1); b == ' ' || b == '"' || b >= utf8.RuneSelf; b = s.byteAt(i - 1) {
		i--
	}
	return i == 0 || strings.IndexByte(".!?:\n*->", s.text[i-1]) >= 0
}
