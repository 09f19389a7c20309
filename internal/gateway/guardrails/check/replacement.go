package check

import (
	"regexp"
	"strings"
)

// replacement is the text that replaces a match, with the references of JavaScript: $1 to $99, $<name>,
// $& for the match, $` and $' for the text before and after it, $$ for a dollar sign.
// Source: ECMA-262, GetSubstitution.
type replacement struct {
	text  string
	names map[string]int // groups by name
	count int            // of groups
}

func newReplacement(text string, re *regexp.Regexp) replacement {
	r := replacement{text: text, names: make(map[string]int), count: re.NumSubexp()}
	for i, name := range re.SubexpNames() {
		if name != "" {
			r.names[name] = i
		}
	}
	return r
}

// expand returns the text for a match; at has the offsets of its groups in s.
func (r *replacement) expand(s string, at []int) string {
	if !strings.Contains(r.text, "$") {
		return r.text
	}
	var b strings.Builder
	for rest := r.text; rest != ""; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		with, n := r.reference(rest[i:], s, at)
		b.WriteString(with)
		rest = rest[i+n:]
	}
	return b.String()
}

// reference reads the reference at the start of text, which begins with a dollar sign. It returns what
// it stands for and its length. A dollar sign without a reference stands for itself.
func (r *replacement) reference(text, s string, at []int) (with string, n int) {
	if len(text) == 1 {
		return "$", 1
	}
	switch c := text[1]; {
	case c == '$':
		return "$", 2
	case c == '&':
		return s[at[0]:at[1]], 2
	case c == '`':
		return s[:at[0]], 2
	case c == '\'':
		return s[at[1]:], 2
	case c == '<' && len(r.names) > 0:
		if name, _, closed := strings.Cut(text[2:], ">"); closed {
			return group(s, at, r.names[name]), len(name) + 3
		}
	case c >= '0' && c <= '9':
		return r.numbered(text, s, at)
	}
	return "$", 1
}

// numbered reads $1 or $12. Two digits count only if there are so many groups.
func (r *replacement) numbered(text, s string, at []int) (with string, n int) {
	i := int(text[1] - '0')
	if len(text) > 2 && text[2] >= '0' && text[2] <= '9' {
		if two := 10*i + int(text[2]-'0'); two >= 1 && two <= r.count {
			return group(s, at, two), 3
		}
	}
	if i >= 1 && i <= r.count {
		return group(s, at, i), 2
	}
	return "$", 1
}

// group returns the text of a group, "" if it does not take part in the match or does not exist.
func group(s string, at []int, i int) string {
	if i == 0 || at[2*i] < 0 {
		return ""
	}
	return s[at[2*i]:at[2*i+1]]
}
