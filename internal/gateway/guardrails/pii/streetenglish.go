package pii

import (
	"bytes"
	"strings"
)

// englishStreet finds the street that follows the house number [i, n): "742 Larkspur Lane".
func (s *scanner) englishStreet(i, n int) (end int, ok bool) {
	if s.isYearOfSentence(i, n) {
		return 0, false
	}
	var previous, buf [maxWordBytes]byte
	size := 0 // of the previous word
	for at, words := n, 0; words < maxAddressWords; words++ {
		start, wordEnd := s.streetWord(at)
		if start == wordEnd {
			break
		}
		word := lowerWord(s.text[start:min(wordEnd, start+maxWordBytes)], &buf)
		isStreet := words > 0 && !isDigit(s.text[start]) && englishStreets[string(word)] && notStreets[string(previous[:size])] != string(word)
		if isStreet || words == 0 && s.isSingleStreet(i, word) {
			end, ok = wordEnd, true
		}
		size = copy(previous[:], word)
		at = s.skipStop(wordEnd)
	}
	if !ok {
		return 0, false
	}
	return s.englishEnd(end), true
}

// streetWord returns the word of a street after i, after a space: with a capital letter, or an ordinal
// such as "24th". It is empty without one.
func (s *scanner) streetWord(i int) (start, end int) {
	start, end = s.wordAfter(i)
	switch {
	case start == i:
		return i, i
	case isCapital(s.text[start:end]):
		return start, end
	case isDigit(s.byteAt(start)):
		return start, s.ordinalEnd(start)
	}
	return i, i
}

// isSingleStreet reports whether a word is the complete name of a street: "Queensway", after a word such as
// "address".
func (s *scanner) isSingleStreet(i int, word []byte) bool {
	for _, suffix := range [...]string{"way", "gate", "street", "road", "side", "hill", "wall"} {
		if bytes.HasSuffix(word, []byte(suffix)) && len(word) > len(suffix)+3 {
			all, _ := s.cuesBefore(i)
			return all&cueAddress != 0
		}
	}
	return false
}

// skipStop returns the offset after a full stop that a space or comma follows: that of an abbreviation.
func (s *scanner) skipStop(i int) int {
	if next := s.byteAt(i + 1); s.byteAt(i) == '.' && (next == ' ' || next == ',') {
		return i + 1
	}
	return i
}

// ordinalEnd returns the end of the number of a street that begins at i: "24th", "12".
func (s *scanner) ordinalEnd(i int) int {
	i = s.skipDigits(i)
	for n := 0; n < 2 && isAlnum(s.byteAt(i)); n++ {
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
	end = s.skipStop(end)
	start, stop := s.wordAfter(end)
	switch s.text[start:stop] {
	case "N", "S", "E", "W", "NE", "NW", "SE", "SW":
		end = stop
	}
	return s.postcodeEnd(s.unitEnd(end))
}

var englishUnits = wordSet("Apt Suite Ste Unit Flat Floor Room Apartment Building")

// unitEnd returns the end of ", Apt 4B" or " Suite 200", or end.
func (s *scanner) unitEnd(end int) int {
	at := end
	if s.byteAt(at) == ',' {
		at++
	}
	start, stop := s.wordAfter(at)
	if !englishUnits[s.text[start:stop]] {
		return end
	}
	stop = s.skipStop(stop)
	if s.byteAt(stop) != ' ' || !isAlnum(s.byteAt(stop+1)) {
		return end
	}
	for stop++; isAlnum(s.byteAt(stop)); stop++ {
	}
	return stop
}

// maxCityBytes bounds a city, a state and a postcode; maxPostcodeBytes a part of a postcode.
const (
	maxCityBytes     = 48
	maxPostcodeBytes = 10
)

// postcodeEnd returns the end of a city that ends with a postcode: ", Duluth, MN 55802", " London NW8
// 9AY". Without a postcode it returns end.
func (s *scanner) postcodeEnd(end int) int {
	stop := end
	for i := end; i-end < maxCityBytes; {
		if s.byteAt(i) == ',' {
			i++
		}
		next := s.byteAt(i + 1)
		if !isSpace(s.byteAt(i)) || classes[next] != upper && !isDigit(next) {
			break
		}
		start := i + 1
		for i = start; isWordByte(s.byteAt(i)) || isDigit(s.byteAt(i)); i++ {
		}
		if strings.ContainsAny(s.text[start:i], "0123456789") && i-start <= maxPostcodeBytes {
			stop = i
		}
	}
	return stop
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' }
