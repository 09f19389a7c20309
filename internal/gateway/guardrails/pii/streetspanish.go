package pii

import "strings"

// spanishStreet finds the kind and name of a street before the number at i: "Calle de los Olmos, 17",
// "Carrera 7 # 45-10".
func (s *scanner) spanishStreet(i int) (start int, ok bool) {
	named := false // a name or a number follows the kind of street
	for at, words := i, 0; words < maxAddressWords; words++ {
		begin, end := s.streetPart(at)
		switch partKind(s.text[begin:end], words == 0, named) {
		case streetKind:
			return begin, named
		case streetName:
			named = true
		case noStreet:
			return 0, false
		case streetFiller:
		}
		at = begin
	}
	return 0, false
}

// streetPartKind is what a part of a street is.
type streetPartKind uint8

const (
	noStreet     streetPartKind = iota
	streetKind                  // "calle"
	streetName                  // "Olmos", "#"
	streetFiller                // "de", "5" in "Calle 5 de Mayo"
)

// partKind returns what a part is that is next to the number, or not, and precedes a name, or not.
func partKind(part string, nextToNumber, named bool) streetPartKind {
	switch {
	case part == "":
		return noStreet
	case isDigit(part[0]) && !nextToNumber && isShortNumber(part):
		return streetFiller
	case isDigit(part[0]):
		return noStreet
	}
	var buf [maxWordBytes]byte
	lowered := lowerWord(part, &buf)
	switch {
	case spanishStreets[string(lowered)] && (named || !isCapital(part)):
		return streetKind
	case isCapital(part), nextToNumber && numberMarks[string(lowered)]:
		return streetName
	case spanishParticles[string(lowered)], numberMarks[string(lowered)]:
		return streetFiller
	}
	return noStreet
}

// numberMarks precede house numbers.
var numberMarks = wordSet("# no. nº n.º núm. n")

// isShortNumber reports whether a number is a part of a street, like that in "Calle 5 de Mayo".
func isShortNumber(part string) bool { return len(part) <= 3 }

// streetPart returns the part of a street before i: a word, a number, or a mark of the house number.
func (s *scanner) streetPart(i int) (start, end int) {
	end = i
	for n := 0; n < 2 && (s.byteAt(end-1) == ' ' || s.byteAt(end-1) == ','); n++ {
		end--
	}
	start = end
	for end-start < maxWordBytes && isPartByte(s.byteAt(start-1)) {
		start--
		if isStroke := s.text[start] == '/' && s.byteAt(start-1)|0x20 == 'c'; isStroke && start+1 < end {
			return start + 1, end // "C/Toledo": the kind is a part of its own
		}
	}
	return start, end
}

func isPartByte(b byte) bool { return isWordByte(b) || isDigit(b) || b == '.' || b == '/' || b == '#' }

// spanishEnd returns the end of an address whose house number ends at end: a floor and a city may follow.
func (s *scanner) spanishEnd(end int) int {
	switch rest := s.text[end:]; {
	case strings.HasPrefix(rest, ", bajo"):
		end += len(", bajo")
	case len(rest) > 4 && strings.HasPrefix(rest, ", ") && isDigit(rest[2]) && strings.HasPrefix(rest[3:], "º"):
		end += len(", 3º")
		if begin, stop := s.wordAfter(end); stop-begin == 1 || spanishDoors[s.text[begin:stop]] {
			end = stop
		}
	}
	return s.cityEnd(end)
}

var spanishDoors = wordSet("izda izquierda izq dcha derecha der centro")

// unnumberedAt finds a Spanish address without a house number around the stroke at i: "Calle Princesa
// s/n".
func (s *scanner) unnumberedAt(i int) (start, end int, ok bool) {
	if s.byteAt(i-1)|0x20 != 's' || s.byteAt(i+1)|0x20 != 'n' || !isGap[s.byteAt(i-2)] || !s.endsToken(i+2) {
		return 0, 0, false
	}
	start, ok = s.spanishStreet(i - 1)
	return start, i + 2, ok
}
