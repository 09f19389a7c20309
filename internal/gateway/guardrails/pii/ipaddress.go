package pii

import (
	"net/netip"
	"strings"
)

// maxIPBytes is the length of the longest IP address: an IPv4 address in IPv6 notation.
const maxIPBytes = 45

// ipv4At finds the IPv4 address that begins at i. Versions of software and numbers of chapters have
// the same form: the nearest word that indicates one or the other decides.
func (s *scanner) ipv4At(i int) (start, end int, ok bool) {
	if !s.startsToken(i) && (s.byteAt(i-1) != '/' || s.byteAt(i-2) != '/') {
		return 0, 0, false
	}
	end = i + octetLength(s.text[i:])
	for range 3 {
		if end == i || s.byteAt(end) != '.' {
			return 0, 0, false
		}
		n := octetLength(s.text[end+1:])
		if n == 0 {
			return 0, 0, false
		}
		end += 1 + n
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
	switch b := s.byteAt(i); b {
	case '_':
		return false
	case '.', '-':
		return !isAlnum(s.byteAt(i + 1))
	default:
		return !isAlnum(b)
	}
}

// ipv6At finds the IPv6 address whose first colon is at i.
func (s *scanner) ipv6At(i int) (start, end int, ok bool) {
	start, end = i, i+1
	for i-start < maxIPBytes && isIPv6Byte(s.byteAt(start-1)) {
		if start--; s.text[start] == ':' {
			return 0, 0, false // was tried there
		}
	}
	for end-start <= maxIPBytes && isIPv6Byte(s.byteAt(end)) {
		end++
	}
	if isNameByte(s.byteAt(end)) || isNameByte(s.byteAt(start-1)) {
		return 0, 0, false
	}
	text := trimSentence(s.text[start:end])
	if last := strings.LastIndexByte(text, ':'); !isLikelyIPv6(text) && last > 0 {
		text = text[:last] // of a port
	}
	return start, start + len(text), isLikelyIPv6(text)
}

// isNameByte reports whether a byte continues a name of a program, such as that in "std::map".
func isNameByte(b byte) bool { return isLetter(b) || b == '_' }

// trimSentence returns a text without the signs of a sentence at its end. Two colons belong to an
// address.
func trimSentence(text string) string {
	text = strings.TrimRight(text, ".")
	if strings.HasSuffix(text, ":") && !strings.HasSuffix(text, "::") {
		return text[:len(text)-1]
	}
	return text
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
