package pii

import (
	"context"
	"unicode/utf8"
)

// scanner passes over a text once.
type scanner struct {
	text  string
	set   category
	found []finding
	// cuesFrom is the offset, plus one, of the last number whose cues were read: all and nearest.
	cuesFrom     int
	all, nearest cue
	id           [maxIDChars]byte // of the identity number that is matched
}

// pauseBytes is the number of bytes after which a scan checks its context.
const pauseBytes = 16 << 10

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
// The error is that of ctx.
func (s *scanner) scan(ctx context.Context) ([]finding, error) {
	for i, pause := 0, pauseBytes; i < len(s.text); {
		if i >= pause {
			if pause = i + pauseBytes; ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		i = s.step(i)
		if len(s.found) >= maxFindings {
			s.found[len(s.found)-1].end = len(s.text)
			break
		}
	}
	return s.found, nil
}

// step judges what begins at i, and returns where to go on.
func (s *scanner) step(i int) int {
	next := i + 1
	switch classes[s.text[i]] {
	case lower:
		return s.wordEnd(i)
	case upper:
		return s.capital(i)
	case symbol:
		return i + runeLength(s.text[i:])
	case digit:
		return s.number(i)
	case sign:
		return s.matchFirst(i, next, phone, (*scanner).phoneAt)
	case at:
		return s.matchFirst(i, next, email, (*scanner).emailAt)
	case colon:
		return s.matchFirst(i, next, ip, (*scanner).ipv6At)
	case stroke:
		return s.matchFirst(i, next, address, (*scanner).unnumberedAt)
	default:
		return next
	}
}

// matcher returns the part of the text that it finds around a byte.
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
	if next := s.byteAt(end); isDigit(next) && end-i <= 6 || next == ' ' && end-i <= 2 {
		if stop := s.matchFirst(i, end, iban, (*scanner).ibanAt); stop > end {
			return stop
		}
		if stop := s.matchFirst(i, end, nationalID, (*scanner).nationalIDAt); stop > end {
			return stop
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

// byteAt returns the byte at i, 0 outside of the text.
func (s *scanner) byteAt(i int) byte {
	if i < 0 || i >= len(s.text) {
		return 0
	}
	return s.text[i]
}

func isDigit(b byte) bool { return b-'0' <= 9 }

// isLetter reports whether b is an ASCII letter or a byte of a character outside ASCII.
func isLetter(b byte) bool { c := classes[b]; return c == lower || c == upper }

func isAlnum(b byte) bool { return isDigit(b) || isUpper(b) || b-'a' <= 'z'-'a' }

func isUpper(b byte) bool { return b-'A' <= 'Z'-'A' }

// startsToken reports whether a number or code may begin at i: it is not the rest of a longer one.
func (s *scanner) startsToken(i int) bool {
	switch b := s.byteAt(i - 1); b {
	case '_', '#':
		return false
	case '-', '.', '/', ',':
		return !isAlnum(s.byteAt(i - 2))
	default:
		return !isAlnum(b)
	}
}

// endsToken reports whether a number or code may end at i: it does not continue.
func (s *scanner) endsToken(i int) bool {
	switch b := s.byteAt(i); b {
	case '_', '%':
		return false
	case '-':
		return !isAlnum(s.byteAt(i + 1))
	case '.', '/', ',', ':':
		return !isDigit(s.byteAt(i + 1))
	default:
		return !isAlnum(b)
	}
}
