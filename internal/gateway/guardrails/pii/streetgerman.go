package pii

import "strings"

// germanStreet finds the street before the house number [i, n): "Lindenweg 14", "Am Alten Markt 7".
func (s *scanner) germanStreet(i, n int) (start int, ok bool) {
	start, end := s.wordBefore(i)
	if start == end || i-end > 2 || !isCapital(s.text[start:end]) || !s.endsHouse(n) {
		return 0, false
	}
	var buf [maxWordBytes]byte
	street := string(lowerWord(s.text[start:end], &buf))
	if s.text[end] == ',' {
		return 0, false
	}
	compound := isGermanCompound(street)
	first, firstEnd := s.wordBefore(start)
	before := s.text[first:firstEnd]
	if compound {
		if isCapital(before) && firstEnd == start-1 && isGermanAdjective(before) {
			return first, true
		}
		return start, true
	}
	if germanStreets[street] && firstEnd == start-1 && isCapital(before) && isGermanAdjective(before) {
		return s.withPreposition(first), true
	}
	return s.prepositionStreet(start, n, street)
}

// isGermanCompound reports whether a word in lower case is a street: "lindenweg", "goethestr".
func isGermanCompound(street string) bool {
	if notGermanStreets[street] {
		return false
	}
	for _, suffix := range germanSuffixes {
		if strings.HasSuffix(street, suffix) && len(street) >= len(suffix)+3 {
			return true
		}
	}
	return false
}

// isGermanAdjective reports whether a word may qualify a street: "Berliner", "Große". Articles and
// numerals are not.
func isGermanAdjective(word string) bool {
	if len(word) < 4 || notGermanAdjectives[word] {
		return false
	}
	return strings.HasSuffix(word, "er") || strings.HasSuffix(word, "e") || strings.HasSuffix(word, "en") || strings.HasSuffix(word, "es")
}

// withPreposition returns the start of a preposition and article before start, or start: "Am", "Auf der".
func (s *scanner) withPreposition(start int) int {
	first, end := s.wordBefore(start)
	switch s.text[first:end] {
	case "Am", "Im", "Zum", "Zur":
		return first
	case "der", "dem", "den":
		earlier, stop := s.wordBefore(first)
		switch s.text[earlier:stop] {
		case "An", "Auf", "In", "Unter", "Hinter", "Vor", "Bei", "Zu":
			return earlier
		}
	}
	return start
}

// prepositionStreet finds a street that is a preposition with a noun: "Am Hang 6", "Unter den Linden 6".
// Something else than another word must follow the number, because "Im Kapitel 7 steht" is not a street.
func (s *scanner) prepositionStreet(noun, n int, street string) (start int, ok bool) {
	start = s.withPreposition(noun)
	if start == noun || notGermanLocations[street] {
		return 0, false
	}
	next, end := s.wordAfter(n)
	return start, next == n || next == end || !isCapital(s.text[next:end]) && germanVerbs[s.text[next:end]]
}
