package pii

import (
	"net/netip"
	"strings"
)

// maxIPBytes is the length of the longest IP address: an IPv4 address in IPv6 notation.
const maxIPBytes = 45

// ipv4At finds the IPv4 address that begins at i. Versions of software and numbers of chapters look
// alike: the nearest word that indicates one or the other decides.
func (s *scanner) ipv4At(i int) (start, end int, ok bool) {
	if !s.startsToken(i) && (i < 2 || s.text[i-1] != '/' || s.text[i-2] != '/') {
		return 0, 0, false
	}
	end = i
	for part := range 4 {
		if part > 0 {
			if end >= len(s.text) || s.text[end] != '.' {
				return 0, 0, false
			}
			end++
		}
		n := octetLength(s.text[end:])
		if n == 0 {
			return 0, 0, false
		}
		end += n
	}
	if !s.endsAddress(end) {
		return 0, 0, false
	}
	_, nearest := s.cuesBefore(i)
	return i, end, nearest&cueVersion == 0 || nearest&cueIP != 0
}

// octetLength returns the length of the number from 0 to 255 at the start of a text, 0 for none.
func octetLength(text string) int {
	n, value := 0, 0
	for n < len(text) && n < 4 && isDigit(text[n]) {
		value = value*10 + int(text[n]-'0')
		n++
	}
	if n > 3 || value > 255 || n > 1 && text[0] == '0' {
		return 0
	}
	return n
}

// endsAddress reports whether an IP address may end at i. A port or a prefix length may follow.
func (s *scanner) endsAddress(i int) bool {
	if i >= len(s.text) {
		return true
	}
	switch b := s.text[i]; {
	case isAlnum(b), b == '_':
		return false
	case b == '.', b == '-':
		return i+1 == len(s.text) || !isAlnum(s.text[i+1])
	}
	return true
}

// ipv6At finds the IPv6 address around the colon at i.
func (s *scanner) ipv6At(i int) (start, end int, ok bool) {
	start, end = i, i+1
	for start > 0 && i-start < maxIPBytes && isIPv6Byte(s.text[start-1]) {
		start--
	}
	for end < len(s.text) && end-start <= maxIPBytes && isIPv6Byte(s.text[end]) {
		end++
	}
	if end < len(s.text) && isLetter(s.text[end]) || start > 0 && (isLetter(s.text[start-1]) || s.text[start-1] == '_') {
		return 0, 0, false
	}
	text := s.text[start:end]
	for len(text) > 0 && (text[len(text)-1] == '.' || text[len(text)-1] == ':' && (len(text) < 2 || text[len(text)-2] != ':')) {
		text = text[:len(text)-1] // of the sentence
	}
	if last := strings.LastIndexByte(text, ':'); !isLikelyIPv6(text) && last > 0 {
		text = text[:last] // of a port
	}
	if !isLikelyIPv6(text) {
		return 0, 0, false
	}
	return start, start + len(text), true
}

func isIPv6Byte(b byte) bool {
	return isDigit(b) || b-'a' <= 'f'-'a' || b-'A' <= 'F'-'A' || b == ':' || b == '.'
}

// isLikelyIPv6 reports whether a text is an IPv6 address and not a name such as "a::b" of a program.
func isLikelyIPv6(text string) bool {
	digits, colons := 0, 0
	for i := range len(text) {
		if isDigit(text[i]) {
			digits++
		} else if text[i] == ':' {
			colons++
		}
	}
	if digits == 0 && colons < 4 || colons < 2 {
		return false
	}
	a, err := netip.ParseAddr(text)
	return err == nil && a.Is6()
}
