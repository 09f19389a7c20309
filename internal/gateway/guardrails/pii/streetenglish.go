package pii

import "strings"

// englishStreet finds the street that follows the house number [i, n): "742 Larkspur Lane".
func (s *scanner) englishStreet(i, n int) (end int, ok bool) {
	if s.isYearOfSentence(i, n) {
		return 0, false
	}
	var buf [maxWordBytes]byte
	previous := ""
	for at, words := n, 0; words < maxAddressWords; words++ {
		start, wordEnd := s.wordAfter(at)
		if start == at {
			break
		}
		word := s.text[start:wordEnd]
		lowered := string(lowerWord(word, &buf))
		switch {
		case isCapital(word):
			wordEnd = s.skipStop(wordEnd)
		case start < len(s.text) && isDigit(s.text[start]) && words < 4: // "24th"
			wordEnd = s.ordinalEnd(start)
		default:
			return s.englishEnd(end), ok
		}
		if englishStreets[lowered] && words > 0 && !notStreets[previous+" "+lowered] {
			end, ok = wordEnd, true
		} else if words == 0 && s.isSingleStreet(i, lowered) {
			end, ok = wordEnd, true
		}
		previous, at = lowered, wordEnd
	}
	return s.englishEnd(end), ok
}

// isSingleStreet reports whether a word is the whole name of a street: "Queensway", after a word such as
// "address".
func (s *scanner) isSingleStreet(i int, word string) bool {
	for _, suffix := range [...]string{"way", "gate", "street", "road", "side", "hill", "wall"} {
		if strings.HasSuffix(word, suffix) && len(word) > len(suffix)+3 {
			all, _ := s.cuesBefore(i)
			return all&cueAddress != 0
		}
	}
	return false
}

// skipStop returns the offset after a full stop that a space or comma follows: that of an abbreviation.
func (s *scanner) skipStop(i int) int {
	if i+1 < len(s.text) && s.text[i] == '.' && (s.text[i+1] == ' ' || s.text[i+1] == ',') {
		return i + 1
	}
	return i
}

// ordinalEnd returns the end of the number of a street that begins at i: "24th", "12".
func (s *scanner) ordinalEnd(i int) int {
	i = s.skipDigits(i)
	for n := 0; n < 2 && i < len(s.text) && isAlnum(s.text[i]); n++ {
		i++
	}
	return i
}

// isYearOfSentence reports whether [i, n) is a year, as in "In 2019 Google Drive".
func (s *scanner) isYearOfSentence(i, n int) bool {
	if n-i != 4 || s.text[i] != '1' && s.text[i] != '2' || s.text[i+1] != '9' && s.text[i+1] != '0' {
		return false
	}
	var buf [maxWordBytes]byte
	start, end := s.wordBefore(i)
	switch string(lowerWord(s.text[start:end], &buf)) {
	case "in", "since", "until", "of", "by", "from", "before", "after":
		return true
	}
	return false
}

// englishEnd returns the end of an English address whose street ends at end: a direction, a unit, a city
// with a postcode may follow.
func (s *scanner) englishEnd(end int) int {
	start, stop := s.wordAfter(end)
	switch s.text[start:stop] {
	case "N", "S", "E", "W", "NE", "NW", "SE", "SW":
		end = stop
	}
	end = s.unitEnd(end)
	return s.postcodeEnd(end)
}

// unitEnd returns the end of ", Apt 4B" or " Suite 200", or end.
func (s *scanner) unitEnd(end int) int {
	at := end
	if at < len(s.text) && s.text[at] == ',' {
		at++
	}
	start, stop := s.wordAfter(at)
	switch s.text[start:stop] {
	case "Apt", "Suite", "Ste", "Unit", "Flat", "Floor", "Room", "Apartment", "Building":
		if stop < len(s.text) && s.text[stop] == '.' {
			stop++
		}
		if stop+1 < len(s.text) && s.text[stop] == ' ' && isAlnum(s.text[stop+1]) {
			for stop++; stop < len(s.text) && isAlnum(s.text[stop]); stop++ {
			}
			return stop
		}
	}
	return end
}

// maxCityBytes bounds a city, a state and a postcode.
const maxCityBytes = 48

// postcodeEnd returns the end of a city that ends with a postcode: ", Duluth, MN 55802", " London NW8
// 9AY". Without a postcode it returns end.
func (s *scanner) postcodeEnd(end int) int {
	i, stop := end, end
	for i < len(s.text) && i-end < maxCityBytes {
		if s.text[i] == ',' {
			i++
		}
		if i+1 >= len(s.text) || s.text[i] != ' ' && s.text[i] != '\n' || classes[s.text[i+1]] != upper && !isDigit(s.text[i+1]) {
			return stop
		}
		start := i + 1
		digits := 0
		for i = start; i < len(s.text) && (isAlnum(s.text[i]) || s.text[i] >= 0x80 || s.text[i] == '-'); i++ {
			if isDigit(s.text[i]) {
				digits++
			}
		}
		if digits > 0 && i-start <= 10 {
			stop = i
		}
	}
	return stop
}
