package pii

import "strings"

// maxNameWords bounds the words of a name.
const maxNameWords = 6

// nameWord is a word of a possible name.
type nameWord struct {
	start, end int
	kind       nameKind
	initial    bool // "J."
	excluded   bool // cannot be a part of a name
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
	first, titled := s.skipTitles(i)
	var p possibleName
	s.readName(first, &p)
	if p.count == 0 || p.words[0].excluded {
		return 0, 0, false
	}
	n := p.length()
	switch {
	case titled == strongTitle, titled == weakTitle && p.words[0].kind&(givenName|surname) != 0:
		return first, p.words[n-1].end, true
	case titled == noTitle && s.isIntroduced(i, &p, n), p.isKnown(n, !s.startsSentence(i)):
		return i, p.words[n-1].end, true
	}
	return 0, 0, false
}

// length returns the number of words up to the first excluded one.
func (p *possibleName) length() int {
	n := 1
	for n < p.count && !p.words[n].excluded {
		n++
	}
	for n > 1 && p.words[n-1].initial {
		n--
	}
	return n
}

// isKnown reports whether the first n words are a given name and a surname.
func (p *possibleName) isKnown(n int, insideSentence bool) bool {
	if n < 2 {
		return false
	}
	first, second := p.words[0].kind, p.words[1].kind
	if p.words[1].initial && n > 2 {
		second = p.words[2].kind
	}
	strong := func(k, kind nameKind) bool { return k&kind != 0 && k&plainWord == 0 }
	switch {
	case strong(first, givenName):
		return second&plainWord == 0 || second&(surname|givenName) != 0
	case first&givenName != 0:
		return strong(second, surname) || strong(second, givenName) && insideSentence || second&surname != 0 && insideSentence
	case p.words[0].initial:
		return strong(second, surname)
	}
	return strong(second, surname) && insideSentence && !p.particles && (first == 0 || strong(first, surname))
}

// readName reads capitalised words that single spaces separate. Particles such as "de la" may be between
// them.
func (s *scanner) readName(i int, p *possibleName) {
	for p.count < maxNameWords {
		end := s.nameWordEnd(i)
		word := s.text[i:end]
		if !isCapital(word) {
			return
		}
		w := nameWord{start: i, end: end, initial: len(word) == 1 && end < len(s.text) && s.text[end] == '.'}
		if w.initial {
			w.end++
		} else {
			w.kind, w.excluded = wordKind(word), isExcluded(word)
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
	for end < len(s.text) && end-i < maxWordBytes && (isLetter(s.text[end]) || end > i && (s.text[end] == '-' || s.text[end] == '\'') && end+1 < len(s.text) && isLetter(s.text[end+1])) {
		end++
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

// wordKind returns what a word can be. A word with hyphens is what its parts are.
func wordKind(word string) nameKind {
	var buf [maxWordBytes]byte
	table := nameKinds()
	lowered := lowerWord(word, &buf)
	if kind, ok := table[string(lowered)]; ok {
		return kind
	}
	if first, last, found := strings.Cut(string(lowered), "-"); found {
		a, b := table[first], table[last]
		if a == 0 || b == 0 {
			return 0
		}
		return (a|b)&^plainWord | a&b&plainWord
	}
	if len(lowered) > 4 && (lowered[1] == '\'' || string(lowered[:2]) == "mc") { // "O'Hara", "McAllister"
		return surname
	}
	return 0
}

// isExcluded reports whether a word cannot be a part of a name: it is not in the lists, or it is a kind of
// company or place, or a title of a person without a name.
func isExcluded(word string) bool {
	var buf [maxWordBytes]byte
	return notNames[string(lowerWord(word, &buf))] || len(word) > 1 && strings.ToUpper(word) == word
}

// Strength of a title.
type title uint8

const (
	noTitle title = iota
	weakTitle
	strongTitle
)

// skipTitles returns the start of the word after titles such as "Herr Dr." and the strength of the
// strongest.
func (s *scanner) skipTitles(i int) (next int, strength title) {
	next = i
	for range 3 {
		end := s.wordEnd(next)
		kind := titles[s.text[next:end]]
		if kind == noTitle {
			return next, strength
		}
		if end < len(s.text) && s.text[end] == '.' {
			end++
		}
		if end+1 >= len(s.text) || s.text[end] != ' ' || classes[s.text[end+1]] != upper {
			return next, strength
		}
		next, strength = end+1, max(strength, kind)
	}
	return next, strength
}

// isIntroduced reports whether the words before i introduce a name of n words.
func (s *scanner) isIntroduced(i int, p *possibleName, n int) bool {
	var buf [maxWordBytes]byte
	start, end, mark := s.cueWord(i)
	word := string(lowerWord(s.text[start:end], &buf))
	known := n > 1 && (p.words[0].kind&givenName != 0 || p.words[n-1].kind&surname != 0)
	for _, w := range p.words[:n] {
		known = known || w.kind&(givenName|surname) != 0 && w.kind&plainWord == 0
	}
	switch {
	case mark == ':' && nameLabels[word], mark == ',' && farewells[word]:
		return n > 1 || known
	case mark != ' ':
		return false
	case introductions[word]:
		return true
	case word == "is" || word == "ist" || word == "es":
		start, end, _ = s.cueWord(start)
		word = string(lowerWord(s.text[start:end], &buf))
		return word == "name" || word == "nombre"
	}
	return known && (n > 1 || salutations[word]) && (salutations[word] || agents[word])
}

// cueWord returns the word before i, and the sign between them: ':' also for quotes of JSON, ',' also at
// the end of a line, or ' '.
func (s *scanner) cueWord(i int) (start, end int, mark byte) {
	end, mark = i, ' '
	for n := 0; n < 4 && end > 0; n++ {
		switch b := s.text[end-1]; b {
		case ':', ',':
			mark = b
		case ' ', '"', '\n', '=':
		default:
			n = 4
			continue
		}
		end--
	}
	start = end
	for start > 0 && end-start < maxWordBytes && isWordByte(s.text[start-1]) {
		start--
	}
	for start < end && isContinuation(s.text[start]) {
		start++
	}
	return start, end, mark
}

// startsSentence reports whether a sentence or line begins at i.
func (s *scanner) startsSentence(i int) bool {
	for i > 0 && (s.text[i-1] == ' ' || s.text[i-1] == '"' || isContinuation(s.text[i-1]) || s.text[i-1] >= 0xC0) {
		i--
	}
	return i == 0 || strings.IndexByte(".!?:\n*->", s.text[i-1]) >= 0
}
