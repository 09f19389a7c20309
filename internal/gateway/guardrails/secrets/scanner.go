package secrets

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/gateway/guardrails/textfold"
)

// finding is a secret in a text: byte offsets, and its type.
type finding struct {
	start, end int
	id         string
}

// find returns the secrets of some types in a text, sorted and without overlaps. The text is searched as
// it is, and in the form without invisible signs, full-width forms and look-alikes.
func find(text string, types typeSet) []finding {
	s := scanner{text: text, types: types}
	found := s.scan()
	folded := textfold.Fold(text)
	if folded.Same() {
		return found
	}
	other := scanner{text: folded.Folded, types: types}
	for _, f := range other.scan() {
		f.start, f.end = folded.Original(f.start, f.end)
		found = append(found, f)
	}
	return disjoint(found)
}

// disjoint sorts findings and joins those that overlap.
func disjoint(found []finding) []finding {
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	n := 0
	for _, f := range found {
		if n > 0 && f.start < found[n-1].end {
			found[n-1].end = max(found[n-1].end, f.end)
			continue
		}
		found[n] = f
		n++
	}
	return found[:n]
}

// scanner passes over a text once.
type scanner struct {
	text  string
	types typeSet
	found []finding
}

// wordBytes are the bytes of words: letters, digits and underscores.
var wordBytes = newByteSet("0-9a-zA-Z_")

// marks are bytes, other than those of words, at which something is tried.
var marks = newByteSet(":=-")

func (s *scanner) scan() []finding {
	for i := 0; i < len(s.text); {
		next := i + 1
		switch b := s.text[i]; {
		case wordBytes[b]:
			next = s.word(i)
		case marks[b]:
			next = s.mark(i, b)
		}
		if len(s.found) >= maxFindings {
			s.found[len(s.found)-1].end = len(s.text)
			break
		}
		i = next
	}
	return s.found
}

// word judges what begins with the word at i, and returns where to go on.
func (s *scanner) word(i int) int {
	if end := s.prefixedAt(i); end > i {
		return end
	}
	if end := s.tokenAt(i); end > i {
		return end
	}
	end := i + 1
	for end < len(s.text) && wordBytes[s.text[end]] {
		end++
	}
	if end := s.infixAt(i, end); end > i {
		return end
	}
	if end-i >= minCuedWord || end-i == 8 && end < len(s.text) && s.text[end] == '-' || s.text[i] == 's' && end-i == 2 {
		if stop := s.cuedAt(i); stop > i {
			return stop
		}
	}
	return end
}

// mark judges what a sign introduces: a private key, a URL with a password, a value.
func (s *scanner) mark(i int, b byte) int {
	end := 0
	switch {
	case b == '-':
		end = s.privateKeyAt(i)
	case b == ':' && strings.HasPrefix(s.text[i:], "://"):
		end = s.urlAt(i)
	default:
		end = s.valueAt(i)
	}
	return max(end, i+1)
}

// add adds a secret if its type is selected. It returns its end, 0 if it was not added.
func (s *scanner) add(start, end int, id string) int {
	if !s.types.has(id) {
		return 0
	}
	s.found = append(s.found, finding{start, end, id})
	return end
}

// prefixedAt finds a credential with a known prefix at i.
func (s *scanner) prefixedAt(i int) int {
	if i+4 >= len(s.text) {
		return 0
	}
	for _, b := range prefixIndex[s.text[i]] {
		if b.second != s.text[i+1] {
			continue
		}
		for k := range b.formats {
			if end := s.matchPrefixed(i, &b.formats[k]); end > 0 {
				return end
			}
		}
	}
	return 0
}

func (s *scanner) matchPrefixed(i int, f *prefixed) int {
	if !strings.HasPrefix(s.text[i:], f.prefix) {
		return 0
	}
	body := i + len(f.prefix)
	end := f.pattern.match(s.text, body)
	switch {
	case end < 0, !isRandom(s.text[body:end]):
		return 0
	case f.valid != nil && !f.valid(s.text[i:end]), f.cue != "" && !s.hasCue(i, f.cue):
		return 0
	}
	if last := f.prefix[len(f.prefix)-1]; last == '=' { // the name of a value
		i = body
	}
	return s.add(i, end, f.id)
}

// infixAt finds a credential whose first part is the word [i, end).
func (s *scanner) infixAt(i, end int) int {
	for k := range infixFormats {
		f := &infixFormats[k]
		stop := i
		for set := byteSets[f.first]; stop < len(s.text) && stop-i <= f.top && set[s.text[stop]]; {
			stop++
		}
		if stop-i < f.low || stop-i > f.top || stop < end && f.first != 'h' || !strings.HasPrefix(s.text[stop:], f.infix) {
			continue
		}
		if f.id == "azure-client-secret" && (s.text[stop-1] != 'Q' || s.text[stop-2]-'0' > 9) {
			continue
		}
		last := infixIndex[k].match(s.text, stop+len(f.infix))
		if last > 0 && isRandom(s.text[stop:last]) && (f.cue == "" || s.hasCue(i, f.cue)) {
			return s.add(i, last, f.id)
		}
	}
	return 0
}

func isAlnum(b byte) bool { return b-'0' <= 9 || b-'a' <= 'z'-'a' || b-'A' <= 'Z'-'A' }
