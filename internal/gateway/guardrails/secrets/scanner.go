package secrets

import (
	"cmp"
	"context"
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
// it is, and in the form without invisible signs, full-width forms and look-alikes. The error is that of
// ctx.
func find(ctx context.Context, text string, types typeSet) ([]finding, error) {
	s := newScanner(text, types)
	found, err := s.scan(ctx)
	if err != nil {
		return nil, err
	}
	folded := textfold.Fold(text)
	if folded.Same() {
		return found, nil
	}
	other := newScanner(folded.Folded, types)
	hidden, err := other.scan(ctx)
	for _, f := range hidden {
		f.start, f.end = folded.Original(f.start, f.end)
		found = append(found, f)
	}
	return disjoint(found), err
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

// scanner passes over a text once. Create one with newScanner.
type scanner struct {
	text  string
	types typeSet
	found []finding

	runs         classRuns
	cues         cueReader
	headless     [4]textRange // see isTokenHead
	placeholders placeholderFinder
}

// textRange is a part of a text: byte offsets.
type textRange struct{ start, end int }

func newScanner(text string, types typeSet) *scanner {
	return &scanner{
		text: text, types: types, runs: classRuns{text: text}, cues: cueReader{text: text}, placeholders: placeholderFinder{text: text},
	}
}

// wordBytes are the bytes of words: letters, digits and underscores.
var wordBytes = newByteSet("0-9a-zA-Z_")

// marks are bytes, other than those of words, at which something is tried.
var marks = newByteSet(":=-")

// pauseBytes is the number of bytes after which a scan checks its context.
const pauseBytes = 16 << 10

// scan returns the findings, sorted and without overlaps. The error is that of ctx.
func (s *scanner) scan(ctx context.Context) ([]finding, error) {
	for i, pause := 0, pauseBytes; i < len(s.text); {
		if i >= pause {
			if pause = i + pauseBytes; ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		switch b := s.text[i]; {
		case wordBytes[b]:
			i = s.word(i)
		case marks[b]:
			i = s.mark(i, b)
		default:
			i++
		}
		if len(s.found) >= maxFindings {
			s.found[len(s.found)-1].end = len(s.text)
			break
		}
	}
	return s.found, nil
}

// word judges what begins with the word at i, and returns where to go on.
func (s *scanner) word(i int) int {
	if end := s.prefixedAt(i); end > i {
		return end
	}
	if end := s.tokenAt(i); end > i {
		return end
	}
	end, digits := i, 0
	for wordBytes[s.byteAt(end)] {
		if s.text[end] <= '9' {
			digits++
		}
		end++
	}
	stop := s.linkedAt(i, end)
	if stop == 0 && infixBytes[s.byteAt(end)] {
		stop = s.infixAt(i, end)
	}
	if stop == 0 && s.mayBeCued(i, end, digits) {
		stop = s.cuedAt(i)
	}
	return max(end, stop)
}

// byteAt returns the byte at i, 0 outside of the text.
func (s *scanner) byteAt(i int) byte {
	if i < 0 || i >= len(s.text) {
		return 0
	}
	return s.text[i]
}

// mayBeCued reports whether the word [i, end) may begin a credential without a prefix. Hyphens may
// continue it.
func (s *scanner) mayBeCued(i, end, digits int) bool {
	if digits > 0 && end-i >= minCuedWord {
		return true
	}
	return s.byteAt(end) == '-' && s.runs.end(classBase64URL, i, minCuedWord) == i+minCuedWord
}

// mark judges what a sign introduces: a private key, a URL with a password, a value.
func (s *scanner) mark(i int, b byte) int {
	var end int
	switch {
	case b == '-':
		end = s.privateKeyAt(i)
	case b == ':' && strings.HasPrefix(s.text[i:], "://"):
		end = s.urlAt(i)
	default:
		end = s.valueAt(i, i+1)
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
	end := f.pattern.match(&s.runs, body)
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

// infixBytes are the bytes that follow the first part of a format in infixFormats.
var infixBytes = func() (set byteSet) {
	for i := range infixFormats {
		set[infixFormats[i].infix[0]] = true
	}
	return set
}()

// infixAt finds a credential whose first part is the word [i, end).
func (s *scanner) infixAt(i, end int) int {
	for k := range infixFormats {
		f := &infixFormats[k]
		if end-i < f.low || end-i > f.top || !strings.HasPrefix(s.text[end:], f.infix) || !f.accepts(s.text[i:end]) {
			continue
		}
		last := infixIndex[k].match(&s.runs, end+len(f.infix))
		if last > 0 && isRandom(s.text[end:last]) && (f.cue == "" || s.hasCue(i, f.cue)) {
			return s.add(i, last, f.id)
		}
	}
	return 0
}

// accepts reports whether a word has the class and ending of the first part.
func (f *infixFormat) accepts(word string) bool {
	set := byteSets[f.first]
	for i := range len(word) {
		if !set[word[i]] {
			return false
		}
	}
	return strings.HasSuffix(word, f.ending)
}

func isAlnum(b byte) bool { return b-'0' <= 9 || b-'a' <= 'z'-'a' || b-'A' <= 'Z'-'A' }
