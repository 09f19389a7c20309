package secrets

import (
	"math"
	"strings"
)

// Limits of names and values.
const (
	maxNameBytes     = 60
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

// valueAt finds a secret value that follows the sign ":" or "=" at i: "password=...", "api_key": "...".
// The finding is the value.
func (s *scanner) valueAt(i int) int {
	var buf [maxNameBytes]byte
	name := s.nameBefore(i, &buf)
	isPassword := hasSuffix(name, passwordNames)
	if !isPassword && !hasSuffix(name, keyNames) {
		return 0
	}
	start, end := s.value(i + 1)
	value := s.text[start:end]
	if end := s.knownAt(start); end > 0 {
		return end
	}
	switch {
	case len(value) < minPasswordBytes, isPlaceholder(value):
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
	for end > 0 && i-end < 3 && strings.IndexByte(" \t\"'`:", s.text[end-1]) >= 0 {
		end--
	}
	n := maxNameBytes
	for at := end; at > 0 && n > 0; at-- {
		b := s.text[at-1]
		switch {
		case b == '_' || b == '-' || b == '.':
			continue
		case isUpperByte(b):
			b += 'a' - 'A'
		case !isLetter(b) && b-'0' > 9:
			return buf[n:]
		}
		n--
		buf[n] = b
	}
	return buf[n:]
}

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
	for n := 0; n < 6 && i < len(s.text) && strings.IndexByte(" \t=>:", s.text[i]) >= 0; n++ {
		i++
	}
	for _, scheme := range [...]string{"Bearer ", "bearer ", "Basic ", "Token "} {
		if strings.HasPrefix(s.text[i:], scheme) {
			i += len(scheme)
		}
	}
	quote := byte(0)
	if i < len(s.text) && strings.IndexByte("\"'`", s.text[i]) >= 0 {
		quote = s.text[i]
		i++
	}
	for end = i; end < len(s.text) && end-i <= maxValueBytes; end++ {
		b := s.text[end]
		if b == quote && quote != 0 || b <= ' ' || quote == 0 && strings.IndexByte(",;\"'`()[]{}<>|&\\", b) >= 0 {
			break
		}
	}
	for quote == 0 && end > i && (s.text[end-1] == '.' || s.text[end-1] == '?') { // of the sentence
		end--
	}
	if end-i > maxValueBytes || end < len(s.text) && s.text[end] == '(' { // a call
		return i, i
	}
	return i, end
}

// placeholders are parts of values that are not secrets.
var placeholders = []string{
	"your", "example", "changeme", "change-me", "placeholder", "xxxx", "****", "....", "dummy", "redacted", "insert", "<", ">", "${", "{{", "$(", "%(", "env.", "getenv",
	"secret_name", "process.", "os.", "config.", "vault:", "ref+", "1234567", "abcdef", "foobar",
}

// isPlaceholder reports whether a value stands for another one.
func isPlaceholder(value string) bool {
	if value == "" || strings.IndexByte("/$%{[<*.", value[0]) >= 0 || strings.Trim(value, value[:1]) == "" {
		return true
	}
	lower := strings.ToLower(value)
	for _, p := range placeholders {
		if strings.Contains(lower, p) {
			return true
		}
	}
	switch lower {
	case "password", "passwort", "secret", "test", "user", "pass", "root", "admin", "token", "string", "null", "none", "true", "false":
		return true
	}
	return strings.Contains(value, "://")
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
