package secrets

import (
	"bytes"
	"math"
	"strings"
)

// Limits of names and values.
const (
	maxNameBytes     = 13 // of the longest in passwordNames and keyNames
	maxValueBytes    = 256
	minPasswordBytes = 8
	minKeyBytes      = 16
	minEntropy       = 3.0 // bits per character of a key
)

// passwordNames and keyNames end names of values that are secret, without separators and in lower case.
var (
	passwordNames = []string{"password", "passwd", "pwd", "passphrase", "passwort", "kennwort", "contraseña"}
	keyNames      = []string{
		"apikey", "secret", "token", "accesskey", "secretkey", "privatekey", "authkey", "encryptionkey", "signingkey", "masterkey", "servicekey",
		"credential", "credentials", "authorization",
	}
)

// linkWords are between a name and a value in a sentence: "my password is ...".
var linkWords = map[string]bool{"is": true, "ist": true, "lautet": true, "es": true}

// maxLinkWord is the length of the longest word in linkWords.
const maxLinkWord = 6

// linkedAt finds a secret value after the word [i, end) that links it with its name.
func (s *scanner) linkedAt(i, end int) int {
	if end-i > maxLinkWord || !linkWords[s.text[i:end]] {
		return 0
	}
	return s.valueAt(i, end)
}

// valueAt finds a secret value after the sign or word [i, next) that assigns it: "password=...",
// "api_key": "...". The finding is the value.
func (s *scanner) valueAt(i, next int) int {
	var buf [maxNameBytes]byte
	name := s.nameBefore(i, &buf)
	isPassword := hasSuffix(name, passwordNames)
	if !isPassword && !hasSuffix(name, keyNames) {
		return 0
	}
	start, end := s.value(next)
	value := s.text[start:end]
	if end := s.knownAt(start); end > 0 {
		return end
	}
	switch {
	case len(value) < minPasswordBytes, !s.types.has(typeGeneric), isStandIn(value), s.placeholders.isIn(start, end):
		return 0
	case isPassword && isStrongPassword(value), !isPassword && isKey(value):
		return s.add(start, end, typeGeneric)
	}
	return 0
}

// knownAt finds a credential in a format of a service that begins at i, the start of a value.
func (s *scanner) knownAt(i int) int {
	if end := s.prefixedAt(i); end > 0 {
		return end
	}
	if end := s.tokenAt(i); end > 0 {
		return end
	}
	return s.cuedAt(i)
}

// nameBefore returns the name before i without separators and in lower case.
func (s *scanner) nameBefore(i int, buf *[maxNameBytes]byte) []byte {
	end := i
	for n := 0; n < 3 && nameGaps[s.byteAt(end-1)]; n++ {
		end--
	}
	n := maxNameBytes
	for at := end; n > 0; at-- {
		b := s.byteAt(at - 1)
		if b == '_' || b == '-' || b == '.' {
			continue
		}
		if !isLetter(b) && !isAlnum(b) {
			break
		}
		n--
		if buf[n] = b; isUpperByte(b) {
			buf[n] += 'a' - 'A'
		}
	}
	return buf[n:]
}

// nameGaps are bytes between a name and the sign that assigns a value, valueGaps those after the sign, and
// valueEnds those that end a value without quotes.
var (
	nameGaps  = newByteSet(" \t\"'`:")
	valueGaps = newByteSet(" \t=>:")
	valueEnds = newByteSet(",;\"'`()[]{}<>|&\\")
	quotes    = newByteSet("\"'`")
)

func isUpperByte(b byte) bool { return b-'A' <= 'Z'-'A' }

func hasSuffix(name []byte, suffixes []string) bool {
	for _, suffix := range suffixes {
		if len(name) >= len(suffix) && string(name[len(name)-len(suffix):]) == suffix {
			return true
		}
	}
	return false
}

// value returns the offsets of the value after i: quoted, or up to a space or sign.
func (s *scanner) value(i int) (start, end int) {
	for n := 0; n < 6 && valueGaps[s.byteAt(i)]; n++ {
		i++
	}
	i = s.skipScheme(i)
	if quotes[s.byteAt(i)] {
		return i + 1, s.quotedEnd(i+1, s.text[i])
	}
	return i, s.bareEnd(i)
}

// bareEnd returns the end of the value without quotes that begins at i. The value of a call, and one that
// is too long, is empty.
func (s *scanner) bareEnd(i int) int {
	end := s.runs.end(classBare, i, maxValueBytes+1)
	if end-i > maxValueBytes || s.byteAt(end) == '(' {
		return i
	}
	return i + len(strings.TrimRight(s.text[i:end], ".?")) // of the sentence
}

// skipScheme returns the offset after the scheme of an Authorization header at i.
func (s *scanner) skipScheme(i int) int {
	for _, scheme := range [...]string{"Bearer ", "bearer ", "Basic ", "Token "} {
		if strings.HasPrefix(s.text[i:], scheme) {
			return i + len(scheme)
		}
	}
	return i
}

// quotedEnd returns the end of the text in quotes that begins at i. Text with spaces is empty.
func (s *scanner) quotedEnd(i int, quote byte) int {
	for end := i; end-i <= maxValueBytes; end++ {
		switch b := s.byteAt(end); {
		case b == quote:
			return end
		case b <= ' ':
			return i
		}
	}
	return i
}

// placeholders are parts of values that are not secrets.
var placeholders = []string{
	"your", "example", "changeme", "change-me", "placeholder", "xxxx", "****", "....", "dummy", "redacted", "insert", "<", ">", "${", "{{", "$(", "%(", "env.", "getenv",
	"secret_name", "process.", "os.", "config.", "vault:", "ref+", "1234567", "abcdef", "foobar", "://",
}

// isPlaceholder reports whether a value stands for another one.
func isPlaceholder(value string) bool {
	return isStandIn(value) || lastPlaceholder(value) >= 0
}

// standIns are values in lower case that are not secrets.
var standIns = map[string]bool{
	"password": true, "passwort": true, "secret": true, "test": true, "user": true, "pass": true, "root": true, "admin": true, "token": true,
	"string": true, "null": true, "none": true, "true": true, "false": true,
}

// maxStandIn is the length of the longest of standIns.
const maxStandIn = 8

// isStandIn reports whether a value as a whole, not a part of it, shows that it is not a secret.
func isStandIn(value string) bool {
	if value == "" || strings.IndexByte("/$%{[<*.", value[0]) >= 0 || strings.Trim(value, value[:1]) == "" {
		return true
	}
	return len(value) <= maxStandIn+2 && standIns[strings.ToLower(value)] // "toKen" may have a Kelvin sign
}

// lastPlaceholder returns the offset of the part of a value that begins last among those that are not in
// secrets, -1 without one.
func lastPlaceholder(value string) int {
	lower, last := []byte(value), -1
	for i, b := range lower {
		if isUpperByte(b) {
			lower[i] += 'a' - 'A'
		}
	}
	for _, p := range placeholders {
		if at := bytes.LastIndex(lower, []byte(p)); at > last {
			last = at
		}
	}
	return last
}

// placeholderFinder finds placeholders in values. It remembers the last value, so that a text in which many
// values end at one offset is read once.
type placeholderFinder struct {
	text string
	read textRange // the last value
	last int       // offset of the last placeholder in it, -1 without one
}

// isIn reports whether the value [start, end) has a placeholder.
func (p *placeholderFinder) isIn(start, end int) bool {
	if p.read.end != end || start < p.read.start {
		p.read, p.last = textRange{start, end}, -1
		if at := lastPlaceholder(p.text[start:end]); at >= 0 {
			p.last = start + at
		}
	}
	return p.last >= start
}

// isStrongPassword reports whether a value has letters together with digits or signs.
func isStrongPassword(value string) bool {
	letters, digits, signs := count(value)
	return letters > 0 && (digits > 0 || signs > 0) && !isIdentifier(value, digits)
}

// isKey reports whether a value looks like a random key.
func isKey(value string) bool {
	letters, digits, _ := count(value)
	return len(value) >= minKeyBytes && letters > 0 && digits > 0 && !isIdentifier(value, digits) && entropy(value) >= minEntropy
}

// count returns the numbers of letters, digits and other characters.
func count(value string) (letters, digits, signs int) {
	for i := range len(value) {
		switch b := value[i]; {
		case b-'0' <= 9:
			digits++
		case isLetter(b):
			letters++
		default:
			signs++
		}
	}
	return letters, digits, signs
}

// isIdentifier reports whether a value is words of a program, such as "request.form" or "user_id_2".
func isIdentifier(value string, digits int) bool {
	separators := 0
	for i := range len(value) {
		b := value[i]
		switch {
		case b == '_' || b == '.' || b == '-':
			separators++
		case !isAlnum(b):
			return false
		}
	}
	return digits <= separators && separators > 0
}

// entropy returns Shannon's entropy in bits per character.
func entropy(value string) float64 {
	var counts [256]int
	for i := range len(value) {
		counts[value[i]]++
	}
	total := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(value))
			total -= p * math.Log2(p)
		}
	}
	return total
}
