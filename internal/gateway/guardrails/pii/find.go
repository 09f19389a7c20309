package pii

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sluice/internal/gateway/guardrails/textfold"
)

// finding is a part of a text, in bytes, and what was found there.
type finding struct {
	start, end int
	kind       category
}

// find returns the findings of the selected categories in a text, sorted and without overlaps. The text
// is searched as it is, and in its plain form. The error is that of ctx.
func find(ctx context.Context, text string, set category) ([]finding, error) {
	s := scanner{text: text, set: set}
	found, err := s.scan(ctx)
	if err != nil {
		return nil, err
	}
	plain, differs := newPlainForm(text)
	if !differs {
		return found, nil
	}
	other := scanner{text: plain.folded.Folded, set: set}
	hidden, err := other.scan(ctx)
	for _, f := range hidden {
		f.start, f.end = plain.original(f.start, f.end)
		if hasASCII(text[f.start:f.end]) || f.kind&(name|address) == 0 {
			found = append(found, f)
		}
	}
	return disjoint(found), err
}

// plainForm is a text without invisible signs, full-width forms and look-alikes, and with hyphens instead
// of the dashes that word processors and models write in numbers.
type plainForm struct {
	folded textfold.Text
	dashes []int // offsets of the replaced dashes in the text with hyphens, sorted
}

// newPlainForm returns the plain form of a text, and whether it differs from the text.
func newPlainForm(text string) (p plainForm, differs bool) {
	hyphens := text
	if strings.Contains(text, dashLead) {
		hyphens, p.dashes = replaceDashes(text)
	}
	p.folded = textfold.Fold(hyphens)
	return p, len(p.dashes) > 0 || !p.folded.Same()
}

// original returns the part of the original that a part of the plain form comes from.
func (p *plainForm) original(start, end int) (int, int) {
	start, end = p.folded.Original(start, end)
	return p.beforeHyphens(start), p.beforeHyphens(end)
}

// beforeHyphens returns the offset in the original of an offset in the text with hyphens.
func (p *plainForm) beforeHyphens(at int) int {
	dashesBefore, _ := slices.BinarySearch(p.dashes, at)
	return at + dashesBefore*(dashBytes-1)
}

const (
	// dashLead begins each dash from U+2010 to U+2015 in UTF-8, but other punctuation too.
	dashLead = "\xe2\x80"
	// dashBytes is the length of a dash in UTF-8; a hyphen has one byte.
	dashBytes = 3
)

// replaceDashes returns a text with a hyphen for each dash, and the offsets of these hyphens; nil if
// there is no dash.
func replaceDashes(text string) (hyphens string, dashes []int) {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], dashLead) && i+2 < len(text) && text[i+2] >= 0x90 && text[i+2] <= 0x95 {
			dashes = append(dashes, len(out))
			out = append(out, '-')
			i += dashBytes - 1
			continue
		}
		out = append(out, text[i])
	}
	return string(out), dashes
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
