package pii

import (
	"cmp"
	"context"
	"slices"

	"sluice/internal/gateway/guardrails/textfold"
)

// finding is a place in a text: byte offsets, and what was found there.
type finding struct {
	start, end int
	kind       category
}

// find returns the findings of the selected categories in a text, sorted and without overlaps. The text
// is searched as it is, and in the form without invisible signs, full-width forms and look-alikes. The
// error is that of ctx.
func find(ctx context.Context, text string, set category) ([]finding, error) {
	s := scanner{text: text, set: set}
	found, err := s.scan(ctx)
	if err != nil {
		return nil, err
	}
	folded := textfold.Fold(text)
	if folded.Same() {
		return found, nil
	}
	other := scanner{text: folded.Folded, set: set}
	hidden, err := other.scan(ctx)
	for _, f := range hidden {
		f.start, f.end = folded.Original(f.start, f.end)
		if hasASCII(text[f.start:f.end]) || f.kind&(name|address) == 0 {
			found = append(found, f)
		}
	}
	return disjoint(found), err
}

// disjoint sorts findings and drops each that overlaps an earlier or longer one.
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

// hasASCII reports whether a text has an ASCII letter or digit. A name in letters of another script is
// not one in Latin letters that look alike.
func hasASCII(s string) bool {
	for i := range len(s) {
		if isAlnum(s[i]) {
			return true
		}
	}
	return false
}
