package check

import (
	"context"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"time"
	"unicode/utf8"
)

// Limits of searching for a pattern.
const (
	maxProgram  = 50_000          // instructions of a compiled pattern
	directSteps = 50_000_000      // instructions times bytes of a search that cannot be interrupted
	largeText   = 1 << 20         // bytes from which a text has a time limit
	searchTime  = 5 * time.Second // for a large text. Source: contract/dataplane.md 5.3, timeout
)

// errSearchTime means that a search was interrupted.
var errSearchTime = errors.New("the text was not searched in time; use a simpler pattern")

// withSearchTime limits the time of searching a large text.
func withSearchTime(ctx context.Context, size int) (context.Context, context.CancelFunc) {
	if size < largeText {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, searchTime)
}

// searcher finds the matches of a pattern. It is safe for concurrent use.
type searcher struct {
	re *regexp.Regexp
	// following matches one character and then the pattern, for patterns that read the text before a
	// match; nil for others.
	following *regexp.Regexp
	size      int // instructions of the compiled pattern
	window    int // see patternWindow
	required  requirement
}

// newSearcher compiles a pattern; name is that of its parameter.
func newSearcher(pattern, name string) (*searcher, error) {
	const syntaxRule = "must be a regular expression in RE2 syntax"
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, invalidParameter(name, syntaxRule)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, invalidParameter(name, syntaxRule)
	}
	s := &searcher{re: re, window: patternWindow(tree), required: requiredBy(tree)}
	if readsContext(tree) {
		if s.following, err = regexp.Compile(`(?s:.)(?:` + tree.String() + `)`); err != nil {
			return nil, invalidParameter(name, syntaxRule)
		}
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, invalidParameter(name, syntaxRule)
	}
	if s.size = len(program.Inst); s.size > maxProgram {
		return nil, invalidParameter(name, "is too complex; use fewer or shorter repetitions")
	}
	return s, nil
}

// has reports whether a text has a match.
func (s *searcher) has(ctx context.Context, text string) (bool, error) {
	if !s.required.isMetBy(text) {
		return false, nil
	}
	if len(text)*s.size <= directSteps {
		return s.re.MatchString(text), nil
	}
	r := newTextReader(ctx, text)
	found := s.re.MatchReader(r)
	return found, r.err
}

// find returns the offsets of the first match that begins at from or later, and of its groups. It
// returns nil without one.
func (s *searcher) find(ctx context.Context, text string, from int) ([]int, error) {
	re, start, lead := s.re, from, 0
	if s.following != nil && from > 0 {
		_, lead = utf8.DecodeLastRuneInString(text[:from])
		re, start = s.following, from-lead
	}
	rest := text[start:]
	var at []int
	if len(rest)*s.size <= directSteps {
		at = re.FindStringSubmatchIndex(rest)
	} else {
		r := newTextReader(ctx, rest)
		if at = re.FindReaderSubmatchIndex(r); r.err != nil {
			return nil, r.err
		}
	}
	if at == nil {
		return nil, nil
	}
	if lead > 0 {
		at[0] += runeLength(rest[at[0]:]) // the character before the match
	}
	for i := range at {
		if at[i] >= 0 {
			at[i] += start
		}
	}
	return at, nil
}

// findAll returns the offsets of at most limit matches that do not overlap, and of their groups. An
// empty match directly after another match does not count.
func (s *searcher) findAll(ctx context.Context, text string, limit int) (found [][]int, err error) {
	if !s.required.isMetBy(text) {
		return nil, nil
	}
	previous := -1 // end of the previous match
	for from := 0; from <= len(text) && len(found) < limit; {
		if len(found)%64 == 0 && ctx.Err() != nil {
			return nil, errSearchTime
		}
		at, err := s.find(ctx, text, from)
		if err != nil || at == nil {
			return found, err
		}
		isEmpty := at[1] == at[0]
		if !isEmpty || at[0] != previous {
			found = append(found, at)
		}
		if previous, from = at[1], at[1]; isEmpty {
			from += runeLength(text[at[1]:])
		}
	}
	return found, nil
}

// textReader reads a text for a search that ends when its context ends.
type textReader struct {
	text  string
	at    int
	reads int
	ended func() bool
	err   error // errSearchTime if the search was interrupted
}

func newTextReader(ctx context.Context, text string) *textReader {
	return &textReader{text: text, ended: func() bool { return ctx.Err() != nil }}
}

// ReadRune implements io.RuneReader.
func (r *textReader) ReadRune() (rune, int, error) {
	if r.reads++; r.reads%1024 == 0 && r.ended() {
		r.err = errSearchTime
		return 0, 0, errSearchTime
	}
	if r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	c, size := rune(r.text[r.at]), 1
	if c >= utf8.RuneSelf {
		c, size = utf8.DecodeRuneInString(r.text[r.at:])
	}
	r.at += size
	return c, size, nil
}
