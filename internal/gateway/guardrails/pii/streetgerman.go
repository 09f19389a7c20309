package pii

import "strings"

// germanStreet finds the street before the house number [i, n): "Lindenweg 14", "Am Alten Markt 7".
func (s *scanner) germanStreet(i, n int) (start int, ok bool) {
	start, end := s.wordBefore(i)
	gap := s.text[end:i]
	if gap != " " && gap != ". " || !isCapital(s.text[start:end]) || !s.endsHouse(n) { // "Goethestr. 22"
		return 0, false
	}
	var buf [maxWordBytes]byte
	street := string(lowerWord(s.text[start:end], &buf))
	adjective, qualified := s.adjectiveBefore(start)
	switch {
	case isGermanCompound(street):
		return adjective, true
	case germanStreets[street] && qualified:
		return s.withPreposition(adjective), true
	case countedNouns[street]:
		return 0, false
	case s.hasCity(n):
		return s.withPreposition(start), true
	}
	return s.prepositionStreet(start, n)
}

// hasCity reports whether a postcode of five digits and a city follow a house number: ", 24103 Kiel".
func (s *scanner) hasCity(n int) bool {
	return s.byteAt(n) == ',' && s.skipDigits(n+2) == n+7 && s.cityEnd(n) > n
}

// adjectiveBefore returns the start of the adjective before start, or start without one.
func (s *scanner) adjectiveBefore(start int) (first int, ok bool) {
	first, end := s.wordBefore(start)
	if end != start-1 || !isGermanAdjective(s.text[first:end]) {
		return start, false
	}
	return first, true
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
	if len(word) < 4 || !isCapital(word) || notGermanAdjectives[word] {
		return false
	}
	for _, suffix := range [...]string{"er", "e", "en", "es"} {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
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
// Something else than another word must follow the number, because "Im Turnier 7 Spiele" is not a street.
func (s *scanner) prepositionStreet(noun, n int) (start int, ok bool) {
	start = s.withPreposition(noun)
	if start == noun {
		return 0, false
	}
	next, end := s.wordAfter(n)
	return start, next == n || next == end || !isCapital(s.text[next:end]) && germanVerbs[s.text[next:end]]
}
