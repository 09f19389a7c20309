package pii

import "strings"

// idFormat is the form of the identity numbers of a country. In a shape, "9" is a digit, "A" a capital
// letter, "X" either, and everything else stands for itself; "~" is an optional space, hyphen or full
// stop.
type idFormat struct {
	country string // "DE"
	shapes  []string
	valid   func(id []byte) bool // id has the characters without separators
	// distinct formats need no word such as "ID" near them.
	distinct bool
}

// idFormats lists the formats. The source of each checksum is next to its function in idchecksum.go.
var idFormats = [...]idFormat{
	{"DE", []string{"99~999~999~999"}, isGermanTaxID, false},
	{"ES", []string{"99999999~A", "99.999.999~A"}, isSpanishDNI, false},
	{"ES", []string{"A~9999999~A"}, isSpanishNIE, false},
	{"FR", []string{"9~99~99~99~999~999~99"}, isFrenchNIR, true},
	{"IT", []string{"AAAAAA99A99A999A"}, isItalianCode, true},
	{"GB", []string{"AA~99~99~99~A"}, isBritishNINO, false},
	{"GB", []string{"999 999 9999", "9999999999"}, isBritishNHS, false},
	{"NL", []string{"999999999", "9999.99.999"}, isDutchBSN, false},
	{"BE", []string{"99.99.99-999.99", "99999999999"}, isBelgianNumber, false},
	{"PL", []string{"99999999999"}, isPolishPESEL, false},
	{"SE", []string{"999999-9999", "99999999-9999", "9999999999"}, isSwedishNumber, false},
	{"FI", []string{"999999-999X", "999999A999X"}, isFinnishCode, true},
	{"CH", []string{"999.9999.9999.99", "9999999999999"}, isSwissNumber, true},
	{"PT", []string{"999~999~999"}, isPortugueseNIF, false},
	{"BR", []string{"999.999.999-99"}, isBrazilianCPF, true},
	{"BR", []string{"99999999999"}, isBrazilianCPF, false},
	{"CL", []string{"99.999.999-X", "9.999.999-X", "99999999-X"}, isChileanRUT, false},
	{"AR", []string{"99-99999999-9", "99999999999"}, isArgentineCUIT, false},
	{"MX", []string{"AAAA999999AAAAAAX9"}, isMexicanCURP, true},
	{"CA", []string{"999 999 999", "999-999-999"}, isCanadianSIN, false},
	{"AU", []string{"999~999~999"}, isAustralianTFN, false},
	{"IN", []string{"9999~9999~9999"}, isIndianAadhaar, false},
	{"IN", []string{"AAAAA9999A"}, isIndianPAN, false},
}

// leadingDigits are the numbers of digits with which an identity number of each of idFormats begins at
// least, so that few shapes are tried at a short number.
var leadingDigits = func() (digits [len(idFormats)]int) {
	for f := range idFormats {
		digits[f] = maxIDChars
		for _, shape := range idFormats[f].shapes {
			digits[f] = min(digits[f], len(shape)-len(strings.TrimLeft(shape, "9")))
		}
	}
	return digits
}()

// maxIDChars is the length of the longest identity number without separators.
const maxIDChars = 18

// nationalIDAt finds the identity number that begins at i.
func (s *scanner) nationalIDAt(i int) (start, end int, ok bool) {
	if !s.startsToken(i) {
		return 0, 0, false
	}
	digits := s.skipDigits(i) - i
	hinted := -1 // not computed
	for f := range idFormats {
		if digits < leadingDigits[f] {
			continue
		}
		format := &idFormats[f]
		end, ok := s.matchID(i, format)
		if !ok {
			continue
		}
		if hinted < 0 {
			hinted = s.hintsID(i, end)
		}
		if format.distinct || hinted > 0 {
			return i, end, true
		}
	}
	return 0, 0, false
}

// hintsID returns 1 if a word near the number indicates an identity number, else 0.
func (s *scanner) hintsID(i, end int) int {
	all, nearest := s.cuesBefore(i)
	if all&cueID != 0 && nearest&cueOrder == 0 || s.cuesAfter(end)&cueID != 0 && nearest == 0 {
		return 1
	}
	return 0
}

// matchID matches the shapes of a format at i and verifies the checksum.
func (s *scanner) matchID(i int, format *idFormat) (end int, ok bool) {
	for _, shape := range format.shapes {
		n, end := s.matchShape(i, shape)
		if end > i && s.endsToken(end) && format.valid(s.id[:n]) {
			return end, true
		}
	}
	return 0, false
}

// matchShape matches a shape at i. It returns the number of characters of the identity number, which are
// in s.id, and their end; -1 if the text has another shape.
func (s *scanner) matchShape(i int, shape string) (n, end int) {
	end = i
	for k := range len(shape) {
		b := s.byteAt(end)
		switch c := shape[k]; {
		case c == '~':
			if b != ' ' && b != '-' && b != '.' {
				continue
			}
		case isInShape(c, b):
			s.id[n] = b
			n++
		case c != b || isDigit(c) || isUpper(c):
			return 0, -1
		}
		end++
	}
	return n, end
}

// isInShape reports whether a byte is in the class of a sign of a shape.
func isInShape(c, b byte) bool {
	switch c {
	case '9':
		return isDigit(b)
	case 'A':
		return isUpper(b)
	case 'X':
		return isDigit(b) || isUpper(b)
	}
	return false
}
