package guardrails

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/gateway/guardrails/check"
)

// apply applies edits to a text.
func apply(text string, edits []check.Edit) string {
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	for _, e := range merged(text, edits) {
		b.WriteString(text[done:e.Start])
		b.WriteString(e.With)
		done = e.End
	}
	b.WriteString(text[done:])
	return b.String()
}

// merged returns edits of one text in their order, without overlaps. Edits of different checks may
// overlap: the parts that they cover are replaced together, by the text of the edit that begins first
// and is longest, so that no edit restores what another one removed. Edits outside the text are left
// out.
func merged(text string, edits []check.Edit) []check.Edit {
	out := make([]check.Edit, 0, len(edits))
	for _, e := range edits {
		if e.Start >= 0 && e.Start <= e.End && e.End <= len(text) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b check.Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	n := 0
	for i := 0; i < len(out); i++ {
		if n > 0 && out[i].Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, out[i].End)
			continue
		}
		out[n] = out[i]
		n++
	}
	return out[:n]
}
