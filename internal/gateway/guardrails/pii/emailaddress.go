package pii

import "slices"

// Limits of an e-mail address in bytes. Source: RFC 5321, 4.5.3.1.
const (
	maxLocalBytes  = 64
	maxDomainBytes = 190
)

// fileExtensions follow an at sign in names of files, as in "logo@2x.png".
var fileExtensions = []string{"css", "gif", "html", "jpeg", "jpg", "js", "json", "pdf", "png", "svg", "webp"}

// emailAt finds the e-mail address around the at sign at i.
func (s *scanner) emailAt(i int) (start, end int, ok bool) {
	start = i
	for start > 0 && i-start <= maxLocalBytes && isLocalByte(s.text[start-1]) {
		start--
	}
	for start < i && (!isLetter(s.text[start]) && !isDigit(s.text[start]) || isContinuation(s.text[start])) {
		start++
	}
	end, ok = s.domainEnd(i + 1)
	switch {
	case !ok, start == i, i-start > maxLocalBytes, s.text[i-1] == '.':
		return 0, 0, false
	case s.text[start:i] == "git" && end < len(s.text) && s.text[end] == ':', s.isUserInfo(start):
		return 0, 0, false
	}
	return start, end, true
}

// isLocalByte reports whether a byte may be in the part before the at sign.
func isLocalByte(b byte) bool {
	switch b {
	case '.', '_', '%', '+', '-', '\'', '!', '#', '$', '&', '*', '/', '?', '^', '~', '=':
		return b != '/' && b != '=' && b != '?' && b != '&'
	}
	return isLetter(b) || isDigit(b)
}

// isUserInfo reports whether a password of a URL begins at i, as in "https://user:password@host".
func (s *scanner) isUserInfo(i int) bool {
	if i == 0 || s.text[i-1] != ':' {
		return false
	}
	for j := i - 1; j > 1 && i-j < maxLocalBytes && s.text[j] != ' '; j-- {
		if s.text[j] == '/' && s.text[j-1] == '/' {
			return true
		}
	}
	return false
}

// domainEnd returns the end of the domain that begins at i: at least two labels, the last one of letters.
func (s *scanner) domainEnd(i int) (end int, ok bool) {
	label, dots := i, 0 // start of the label
	for end = i; end < len(s.text) && end-i <= maxDomainBytes; end++ {
		b := s.text[end]
		if b == '.' && end > label && end+1 < len(s.text) && (isLetter(s.text[end+1]) || isDigit(s.text[end+1])) {
			label, dots = end+1, dots+1
			continue
		}
		if !isLetter(b) && !isDigit(b) && (b != '-' || end == label) {
			break
		}
	}
	for end > label && s.text[end-1] == '-' {
		end--
	}
	return end, dots > 0 && isTopLevel(s.text[label:end])
}

// isTopLevel reports whether a label may be the last one of a domain.
func isTopLevel(label string) bool {
	if len(label) < 2 || len(label) > 63 || slices.Contains(fileExtensions, label) {
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
