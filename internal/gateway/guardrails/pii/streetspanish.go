package pii

import "strings"

// spanishStreet finds the kind and name of a street before the number at i: "Calle de los Olmos, 17",
// "Carrera 7 # 45-10".
func (s *scanner) spanishStreet(i int) (start int, ok bool) {
	var buf [maxWordBytes]byte
	named := false
	for at, words := i, 0; words < maxAddressWords; words++ {
		begin, end, mark := s.streetPart(at)
		if begin == end {
			return 0, false
		}
		part := s.text[begin:end]
		lowered := string(lowerWord(part, &buf))
		switch {
		case spanishStreets[lowered]:
			return begin, named
		case mark:
			named = named || words == 0 // "# 45-10", "No. 10-34"
		case spanishParticles[lowered]:
		case isCapital(part):
			named = true
		case isDigit(part[0]) && words > 0 && len(part) <= 3:
		default:
			return 0, false
		}
		at = begin
	}
	return 0, false
}

// streetPart returns the part of a street before i: a word, a number, or a mark of the house number.
func (s *scanner) streetPart(i int) (start, end int, mark bool) {
	end = i
	for n := 0; n < 2 && end > 0 && (s.text[end-1] == ' ' || s.text[end-1] == ','); n++ {
		end--
	}
	start = end
	for start > 0 && end-start < maxWordBytes && (isWordByte(s.text[start-1]) || isDigit(s.text[start-1]) || strings.IndexByte("./#", s.text[start-1]) >= 0) {
		start--
		if s.text[start] == '/' && start > 0 && (s.text[start-1]|0x20) == 'c' { // "C/Toledo": the kind is a part of its own
			if start+1 < end {
				return start + 1, end, false
			}
		}
	}
	part := s.text[start:end]
	return start, end, part == "#" || part == "No." || part == "no." || part == "Nº" || part == "nº" || part == "N.º" || part == "núm." || part == "N"
}

// spanishEnd returns the end of an address whose house number ends at end: a second number, a floor and
// a city may follow.
func (s *scanner) spanishEnd(end int) int {
	if end+1 < len(s.text) && s.text[end] == '-' && isDigit(s.text[end+1]) {
		end = s.skipDigits(end + 1)
	}
	if rest := s.text[end:]; strings.HasPrefix(rest, ", ") && len(rest) > 4 && isDigit(rest[2]) && strings.HasPrefix(rest[3:], "º") {
		end += 5
		begin, stop := s.wordAfter(end)
		if word := s.text[begin:stop]; len(word) == 1 || strings.HasPrefix(word, "izda") || strings.HasPrefix(word, "dcha") || strings.HasPrefix(word, "izq") || strings.HasPrefix(word, "der") {
			end = stop
		}
	} else if strings.HasPrefix(rest, ", bajo") {
		end += len(", bajo")
	}
	return s.cityEnd(end)
}

// unnumberedAt finds a Spanish address without a house number around the stroke at i: "Calle Princesa
// s/n".
func (s *scanner) unnumberedAt(i int) (start, end int, ok bool) {
	if i < 2 || i+1 >= len(s.text) || s.text[i-1]|0x20 != 's' || s.text[i+1]|0x20 != 'n' || s.text[i-2] != ' ' && s.text[i-2] != ',' || !s.endsToken(i+2) {
		return 0, 0, false
	}
	start, ok = s.spanishStreet(i - 1)
	return start, i + 2, ok
}
