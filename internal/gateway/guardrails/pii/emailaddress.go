package pii

import (
	"slices"
	"strings"
)

// Limits of an e-mail address in bytes. Source: RFC 5321, 4.5.3.1.
const (
	maxLocalBytes  = 64
	maxDomainBytes = 190
	maxLabelBytes  = 63
)

// fileExtensions follow an at sign in names of files, as in "logo@2x.png".
var fileExtensions = []string{"css", "gif", "html", "jpeg", "jpg", "js", "json", "pdf", "png", "svg", "webp"}

// emailAt finds the e-mail address around the at sign at i.
func (s *scanner) emailAt(i int) (start, end int, ok bool) {
	start = s.localStart(i)
	end, ok = s.domainEnd(i + 1)
	if !ok || start == i || i-start > maxLocalBytes || s.text[i-1] == '.' {
		return 0, 0, false
	}
	isRepository := s.text[start:i] == "git" && s.byteAt(end) == ':'
	return start, end, !isRepository && !s.isUserInfo(start)
}

// localStart returns the start of the part of an address before the at sign at i.
func (s *scanner) localStart(i int) int {
	start := i
	for i-start <= maxLocalBytes && isLocalByte(s.byteAt(start-1)) {
		start--
	}
	for start < i && !startsWord[s.text[start]] {
		start++
	}
	return start
}

// startsWord has the bytes with which a word may begin: letters and digits, not the rest of a character.
var startsWord = func() (t [256]bool) {
	for c := range 256 {
		b := byte(c)
		t[c] = (isLetter(b) || isDigit(b)) && !isContinuation(b)
	}
	return t
}()

// isLocalByte reports whether a byte may be in the part before the at sign.
func isLocalByte(b byte) bool {
	return isLetter(b) || isDigit(b) || b != 0 && strings.IndexByte("._%+-'!#$*^~", b) >= 0
}

// isUserInfo reports whether a password of a URL begins at i, as in "https://user:password@host".
func (s *scanner) isUserInfo(i int) bool {
	if s.byteAt(i-1) != ':' {
		return false
	}
	before := s.text[max(0, i-maxLocalBytes) : i-1]
	return strings.Contains(before[strings.LastIndexByte(before, ' ')+1:], "//")
}

// domainEnd returns the end of the domain that begins at i: at least two labels, the last one of letters.
func (s *scanner) domainEnd(i int) (end int, ok bool) {
	label := i // start of the label
	for end = s.labelEnd(i); s.byteAt(end) == '.' && end > label && end-i < maxDomainBytes; end = s.labelEnd(label) {
		if next := s.byteAt(end + 1); !isLetter(next) && !isDigit(next) {
			break
		}
		label = end + 1
	}
	return end, label > i && isTopLevel(s.text[label:end])
}

// labelEnd returns the end of the label of a domain that begins at i. Hyphens may be inside of it.
func (s *scanner) labelEnd(i int) int {
	end := i
	for b := s.byteAt(end); (isLetter(b) || isDigit(b) || b == '-' && end > i) && end-i <= maxLabelBytes; b = s.byteAt(end) {
		end++
	}
	for end > i && s.text[end-1] == '-' {
		end--
	}
	return end
}

// isTopLevel reports whether a label may be the last one of a domain.
func isTopLevel(label string) bool {
	if len(label) < 2 || len(label) > maxLabelBytes || slices.Contains(fileExtensions, label) {
		return false
	}
	if len(label) > 4 && label[:4] == "xn--" {
		return true
	}
	for i := range len(label) {
		if !isLetter(label[i]) {
			return false
		}
	}
	return true
}
