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

// maxHouseDigits is the number of digits that a house number or box number has at most.
const maxHouseDigits = 5

// houseNumber returns the end of the house number that begins at i: "5", "5a", "12-14".
func (s *scanner) houseNumber(i int) (end int, ok bool) {
	if before := s.byteAt(i - 1); before == '_' || isPoint(before) && isDigit(s.byteAt(i-2)) {
		return 0, false
	}
	end = s.skipDigits(i)
	if end-i > maxHouseDigits {
		return 0, false
	}
	if s.byteAt(end) == '-' && isDigit(s.byteAt(end+1)) {
		end = s.skipDigits(end + 1)
	}
	if isAlnum(s.byteAt(end)) {
		end++ // a letter
	}
	return end, !isAlnum(s.byteAt(end)) && !isLetter(s.byteAt(end))
}

// isPoint reports whether a byte separates the parts of a number.
func isPoint(b byte) bool { return b == '.' || b == ',' }

// houseLetter returns the end of a letter that a space separates from a house number: "3 b", or end.
func (s *scanner) houseLetter(end int) int {
	start, stop := s.wordAfter(end)
	if stop-start != 1 || start != end+1 {
		return end
	}
	switch s.byteAt(stop) {
	case 0, ',', '.', '\n':
		return stop
	}
	return end
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
	for n := 0; n < 2 && isGap[s.byteAt(end-1)]; n++ {
		end--
	}
	return s.wordStart(end), end
}

// isGap has the bytes between the words of an address.
var isGap = [256]bool{' ': true, ',': true, '.': true}

// wordStart returns the start of the word that ends at end.
func (s *scanner) wordStart(end int) int {
	start := end
	for end-start < maxWordBytes && isWordByte(s.byteAt(start-1)) {
		start--
	}
	for start < end && isContinuation(s.text[start]) {
		start++
	}
	return start
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
	switch string(lowerWord(s.text[start:wordEnd], &buf)) {
	case "box":
		start, ok = s.postOffice(start)
	case "postfach", "apdo":
		ok = true
	case "correos":
		start, _ = s.wordBefore(start) // "de"
		start, wordEnd = s.wordBefore(start)
		ok = boxWords[string(lowerWord(s.text[start:wordEnd], &buf))]
	}
	if !ok {
		return 0, 0, false
	}
	for s.byteAt(n) == ' ' && isDigit(s.byteAt(n+1)) && n-i < 12 { // "11 02 34"
		n = s.skipDigits(n + 1)
	}
	return start, max(s.cityEnd(n), s.postcodeEnd(n)), true
}

var boxWords = wordSet("apartado apdo")

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
	switch s.byteAt(i) {
	case '%', ':':
		return false
	}
	if isPoint(s.byteAt(i)) && isDigit(s.byteAt(i+1)) {
		return false
	}
	start, end := s.wordAfter(i)
	var buf [maxWordBytes]byte
	return !unitWords[string(lowerWord(s.text[start:end], &buf))]
}

// maxCityWords bounds the words of a city.
const maxCityWords = 3

// cityEnd returns the end of an address with the postcode and city that may follow a street: ", 24103
// Kiel".
func (s *scanner) cityEnd(end int) int {
	i := end
	if s.byteAt(i) == ',' {
		i++
	}
	if !isSpace(s.byteAt(i)) {
		return end
	}
	code := s.skipDigits(i + 1)
	if digits := code - i - 1; digits != 4 && digits != 5 {
		return end
	}
	stop := end
	for range maxCityWords {
		start, wordEnd := s.wordAfter(code)
		if start == code || !isCapital(s.text[start:wordEnd]) {
			break
		}
		code, stop = wordEnd, wordEnd
	}
	return stop
}
