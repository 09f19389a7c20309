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
	// offsets[i] is the offset in the original of byte i of the text with hyphens; nil without dashes.
	offsets []int
}

// newPlainForm returns the plain form of a text, and whether it differs from the text.
func newPlainForm(text string) (p plainForm, differs bool) {
	hyphens := text
	if strings.Contains(text, dashLead) {
		hyphens, p.offsets = replaceDashes(text)
	}
	p.folded = textfold.Fold(hyphens)
	return p, p.offsets != nil || !p.folded.Same()
}

// original returns the part of the original that a part of the plain form comes from.
func (p *plainForm) original(start, end int) (int, int) {
	start, end = p.folded.Original(start, end)
	if p.offsets != nil {
		return p.offsets[start], p.offsets[end]
	}
	return start, end
}

// dashLead begins each dash from U+2010 to U+2015 in UTF-8, but other punctuation too.
const dashLead = "\xe2\x80"

// replaceDashes returns a text with a hyphen for each dash, and the offset of each byte in the original;
// nil if there is no dash.
func replaceDashes(text string) (string, []int) {
	out, offsets, found := make([]byte, 0, len(text)), make([]int, 0, len(text)+1), false
	for i := 0; i < len(text); i++ {
		offsets = append(offsets, i)
		if strings.HasPrefix(text[i:], dashLead) && i+2 < len(text) && text[i+2] >= 0x90 && text[i+2] <= 0x95 {
			out, found = append(out, '-'), true
			i += 2
			continue
		}
		out = append(out, text[i])
	}
	if !found {
		return text, nil
	}
	return string(out), append(offsets, len(text))
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
