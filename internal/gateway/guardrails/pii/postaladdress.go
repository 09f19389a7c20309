package pii

import (
	"unicode"
	"unicode/utf8"
)

// maxAddressWords bounds the words of a street on each side of its number.
const maxAddressWords = 7

// addressAt finds the postal address around the house number or box number that begins at i.
func (s *scanner) addressAt(i int) (start, end int, ok bool) {
	n, ok := s.houseNumber(i)
	if !ok {
		return 0, 0, false
	}
	if start, end, ok = s.boxAddress(i, n); ok {
		return start, end, true
	}
	if start, ok = s.spanishStreet(i); ok && s.endsHouse(n) {
		return start, s.spanishEnd(n), true
	}
	if start, ok = s.germanStreet(i, n); ok {
		return start, s.cityEnd(s.houseLetter(n)), true
	}
	if end, ok = s.englishStreet(i, n); ok {
		return i, end, true
	}
	return 0, 0, false
}

// houseNumber returns the end of the house number that begins at i: "5", "5a", "12-14".
func (s *scanner) houseNumber(i int) (end int, ok bool) {
	if i > 0 && (isDigit(s.text[i-1]) || s.text[i-1] == '_' || i > 1 && (s.text[i-1] == '.' || s.text[i-1] == ',') && isDigit(s.text[i-2])) {
		return 0, false
	}
	end = s.skipDigits(i)
	if end-i > 5 {
		return 0, false
	}
	if end+1 < len(s.text) && s.text[end] == '-' && isDigit(s.text[end+1]) {
		end = s.skipDigits(end + 1)
	}
	if end < len(s.text) && isAlnum(s.text[end]) {
		end++ // a letter
	}
	if end < len(s.text) && (isAlnum(s.text[end]) || s.text[end] >= 0x80 && !s.hasOrdinal(end)) {
		return 0, false
	}
	return end, true
}

// houseLetter returns the end of a letter that a space separates from a house number: "3 b", or end.
func (s *scanner) houseLetter(end int) int {
	start, stop := s.wordAfter(end)
	if stop-start == 1 && start == end+1 && isAlnum(s.text[start]) && (stop == len(s.text) || s.text[stop] == ',' || s.text[stop] == '.' || s.text[stop] == '\n') {
		return stop
	}
	return end
}

// hasOrdinal reports whether "º" or a no-break space is at i.
func (s *scanner) hasOrdinal(i int) bool {
	return i+1 < len(s.text) && s.text[i] == 0xC2 && (s.text[i+1] == 0xBA || s.text[i+1] == 0xA0)
}

func (s *scanner) skipDigits(i int) int {
	for i < len(s.text) && isDigit(s.text[i]) {
		i++
	}
	return i
}

// wordBefore returns the word before i, after at most two spaces, commas or full stops.
func (s *scanner) wordBefore(i int) (start, end int) {
	end = i
	for n := 0; n < 2 && end > 0 && (s.text[end-1] == ' ' || s.text[end-1] == ',' || s.text[end-1] == '.'); n++ {
		end--
	}
	start = end
	for start > 0 && end-start < maxWordBytes && isWordByte(s.text[start-1]) {
		start--
	}
	for start < end && isContinuation(s.text[start]) {
		start++
	}
	return start, end
}

// wordAfter returns the word after i, after one space.
func (s *scanner) wordAfter(i int) (start, end int) {
	if i < len(s.text) && s.text[i] == ' ' {
		i++
	}
	end = i
	for end < len(s.text) && end-i < maxWordBytes && isWordByte(s.text[end]) {
		end++
	}
	return i, end
}

// maxWordBytes bounds the words that matchers read.
const maxWordBytes = 40

// isWordByte reports whether a byte may be in a word of a street or name: letters, hyphen, apostrophe.
func isWordByte(b byte) bool { return isLetter(b) || b == '-' || b == '\'' }

// isCapital reports whether a word begins with a capital letter.
func isCapital(word string) bool {
	if word == "" || word[0] < utf8.RuneSelf {
		return word != "" && isUpper(word[0])
	}
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// lowerWord returns a word in lower case: ASCII letters and those of Latin-1. It is in buf.
func lowerWord(word string, buf *[maxWordBytes]byte) []byte {
	n := copy(buf[:], word)
	for i, b := range buf[:n] {
		if isUpper(b) {
			buf[i] = b + 'a' - 'A'
		} else if b == 0xC3 && i+1 < n && buf[i+1] >= 0x80 && buf[i+1] < 0x9F {
			buf[i+1] += 0x20 // "Ó" to "ó"
		}
	}
	return buf[:n]
}

// boxAddress finds a post-office box whose number is [i, n).
func (s *scanner) boxAddress(i, n int) (start, end int, ok bool) {
	var buf [maxWordBytes]byte
	start, wordEnd := s.wordBefore(i)
	switch word := string(lowerWord(s.text[start:wordEnd], &buf)); word {
	case "box":
		start, ok = s.postOffice(start)
	case "postfach", "apdo":
		ok = true
	case "correos":
		for range 2 {
			start, wordEnd = s.wordBefore(start)
		}
		w := string(lowerWord(s.text[start:wordEnd], &buf))
		ok = w == "apartado" || w == "apdo"
	}
	if !ok {
		return 0, 0, false
	}
	for n+2 < len(s.text) && s.text[n] == ' ' && isDigit(s.text[n+1]) && n-i < 12 { // "11 02 34"
		n = s.skipDigits(n + 1)
	}
	return start, max(s.cityEnd(n), s.postcodeEnd(n)), true
}

// postOffice returns the start of "P.O.", "PO", "P O" or "Post Office" that ends before i.
func (s *scanner) postOffice(i int) (start int, ok bool) {
	for _, form := range [...]string{"P.O. ", "PO ", "P O ", "P.O.", "p.o. ", "po ", "Post Office ", "P. O. "} {
		if i >= len(form) && s.text[i-len(form):i] == form {
			return i - len(form), true
		}
	}
	return 0, false
}

// endsHouse reports whether a house number may end at i: no unit follows, and the number does not
// continue.
func (s *scanner) endsHouse(i int) bool {
	if i+1 < len(s.text) && (s.text[i] == '.' || s.text[i] == ',' || s.text[i] == ':') && isDigit(s.text[i+1]) {
		return false
	}
	if i < len(s.text) && (s.text[i] == '%' || s.text[i] == ':') {
		return false
	}
	start, end := s.wordAfter(i)
	var buf [maxWordBytes]byte
	return !unitWords[string(lowerWord(s.text[start:end], &buf))]
}

// cityEnd returns the end of an address with the postcode and city that may follow a street: ", 24103
// Kiel".
func (s *scanner) cityEnd(end int) int {
	i := end
	if i < len(s.text) && s.text[i] == ',' {
		i++
	}
	if i+5 >= len(s.text) || s.text[i] != ' ' && s.text[i] != '\n' {
		return end
	}
	i++
	code := s.skipDigits(i)
	if code-i != 4 && code-i != 5 {
		return end
	}
	stop := end
	for range 3 {
		start, wordEnd := s.wordAfter(code)
		if start == code || !isCapital(s.text[start:wordEnd]) {
			break
		}
		code, stop = wordEnd, wordEnd
	}
	return stop
}
