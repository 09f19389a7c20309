package pii

import "unicode/utf8"

// scanner passes over a text once.
type scanner struct {
	text  string
	set   category
	found []finding
}

// class is what a byte can begin.
type class uint8

const (
	other class = iota
	lower
	upper  // also bytes of letters outside ASCII
	symbol // a sign outside ASCII: punctuation, emoji
	digit
	sign   // "+" or "(": a phone number
	at     // an e-mail address
	colon  // an IPv6 address
	stroke // "s/n" of a Spanish address
)

var classes = func() (t [256]class) {
	for c := range 256 {
		switch b := byte(c); {
		case b >= 'a' && b <= 'z':
			t[c] = lower
		case b >= 'A' && b <= 'Z', b >= 0x80:
			t[c] = upper
		case b >= '0' && b <= '9':
			t[c] = digit
		}
	}
	for _, lead := range [...]byte{0xC2, 0xE2, 0xE3, 0xEF, 0xF0} {
		t[lead] = symbol
	}
	t['+'], t['('], t['@'], t[':'], t['/'] = sign, sign, at, colon, stroke
	return t
}()

// scan returns the findings, sorted and without overlaps.
func (s *scanner) scan() []finding {
	for i := 0; i < len(s.text); {
		next := i + 1
		switch classes[s.text[i]] {
		case lower:
			next = s.wordEnd(i)
		case upper:
			next = s.capital(i)
		case symbol:
			next = i + runeLength(s.text[i:])
		case digit:
			next = s.number(i)
		case sign:
			next = s.matchFirst(i, next, phone, (*scanner).phoneAt)
		case at:
			next = s.matchFirst(i, next, email, (*scanner).emailAt)
		case colon:
			next = s.matchFirst(i, next, ip, (*scanner).ipv6At)
		case stroke:
			next = s.matchFirst(i, next, address, (*scanner).unnumberedAt)
		}
		if len(s.found) >= maxFindings {
			s.found[len(s.found)-1].end = len(s.text)
			break
		}
		i = next
	}
	return s.found
}

// matcher returns the place that it finds around a byte.
type matcher func(s *scanner, i int) (start, end int, ok bool)

// matchFirst runs a matcher if its category is selected. It returns the end of the finding, or next.
func (s *scanner) matchFirst(i, next int, kind category, m matcher) int {
	if s.set&kind == 0 {
		return next
	}
	start, end, ok := m(s, i)
	if !ok {
		return next
	}
	s.add(start, end, kind)
	return max(end, next)
}

// add adds a finding. Earlier ones that it covers or overlaps become a part of it.
func (s *scanner) add(start, end int, kind category) {
	for len(s.found) > 0 {
		last := s.found[len(s.found)-1]
		if last.end <= start {
			break
		}
		start, end = min(start, last.start), max(end, last.end)
		s.found = s.found[:len(s.found)-1]
	}
	s.found = append(s.found, finding{start, end, kind})
}

// numberMatchers are tried at each number, the most specific ones first.
var numberMatchers = [...]struct {
	kind  category
	match matcher
}{
	{ip, (*scanner).ipv4At},
	{card, (*scanner).cardAt},
	{ssn, (*scanner).ssnAt},
	{nationalID, (*scanner).nationalIDAt},
	{phone, (*scanner).phoneAt},
	{address, (*scanner).addressAt},
}

// number judges the number that begins at i, and returns the end of the finding or of the digits.
func (s *scanner) number(i int) int {
	end := i + 1
	for end < len(s.text) && isDigit(s.text[end]) {
		end++
	}
	for _, m := range numberMatchers {
		if s.set&m.kind != 0 {
			if start, stop, ok := m.match(s, i); ok {
				s.add(start, stop, m.kind)
				return max(stop, end)
			}
		}
	}
	return end
}

// capital judges what begins with a capital letter: an IBAN, a national id or a name.
func (s *scanner) capital(i int) int {
	end := s.wordEnd(i)
	if end < len(s.text) && isDigit(s.text[end]) && end-i <= 6 {
		if next := s.matchFirst(i, end, iban, (*scanner).ibanAt); next > end {
			return next
		}
		return s.matchFirst(i, end, nationalID, (*scanner).nationalIDAt)
	}
	if end-i <= 2 && end < len(s.text) && s.text[end] == ' ' {
		if next := s.matchFirst(i, end, nationalID, (*scanner).nationalIDAt); next > end {
			return next
		}
	}
	return s.matchFirst(i, end, name, (*scanner).nameAt)
}

// wordEnd returns the end of the letters that begin at i.
func (s *scanner) wordEnd(i int) int {
	for i++; i < len(s.text) && isLetter(s.text[i]); i++ {
	}
	return i
}

// isContinuation reports whether b is inside of a character outside ASCII.
func isContinuation(b byte) bool { return b&0xC0 == 0x80 }

// runeLength returns the number of bytes of the first character of s, at least 1.
func runeLength(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return max(n, 1)
}

func isDigit(b byte) bool { return b-'0' <= 9 }

// isLetter reports whether b is an ASCII letter or a byte of a character outside ASCII.
func isLetter(b byte) bool { c := classes[b]; return c == lower || c == upper }

func isAlnum(b byte) bool { return isDigit(b) || isUpper(b) || b-'a' <= 'z'-'a' }

func isUpper(b byte) bool { return b-'A' <= 'Z'-'A' }

// startsToken reports whether a number or code may begin at i: it is not the rest of a longer one.
func (s *scanner) startsToken(i int) bool {
	if i == 0 {
		return true
	}
	switch b := s.text[i-1]; {
	case isAlnum(b), b == '_', b == '#':
		return false
	case b == '-', b == '.', b == '/', b == ',':
		return i < 2 || !isAlnum(s.text[i-2])
	}
	return true
}

// endsToken reports whether a number or code may end at i: it does not continue.
func (s *scanner) endsToken(i int) bool {
	if i >= len(s.text) {
		return true
	}
	switch b := s.text[i]; {
	case isAlnum(b), b == '_', b == '%':
		return false
	case b == '-', b == '.', b == '/', b == ',', b == ':':
		return i+1 == len(s.text) || !isDigit(s.text[i+1]) && (b != '-' || !isAlnum(s.text[i+1]))
	}
	return true
}
