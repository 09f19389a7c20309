package check

import (
	"strings"

	"sluice/internal/gateway/guardrails/textfold"
)

// textForms are the forms in which a text is compared. The original is first; the others are present
// only if they differ from it.
type textForms struct {
	original string
	folded   []textfold.Text
}

// formsOf returns the forms of a text: the original, the one without invisible signs, and the one
// whose look-alike letters are Latin.
func formsOf(s string) textForms {
	f := textForms{original: s}
	full := textfold.Fold(s)
	if full.Same() {
		return f
	}
	if signs := textfold.FoldSigns(s); !signs.Same() && signs.Folded != full.Folded {
		f.folded = append(f.folded, signs)
	}
	f.folded = append(f.folded, full)
	return f
}

// has reports whether a form of the text satisfies a condition.
func (f *textForms) has(condition func(form string) bool) bool {
	if condition(f.original) {
		return true
	}
	for i := range f.folded {
		if condition(f.folded[i].Folded) {
			return true
		}
	}
	return false
}

// needle is a string that is searched in the forms of a text.
type needle struct{ plain, folded string }

func newNeedle(s string) needle {
	f := textfold.Fold(s)
	return needle{s, f.Folded}
}

// isIn reports whether a text contains the string in any form.
func (n needle) isIn(f *textForms) bool {
	return f.has(func(form string) bool {
		return strings.Contains(form, n.plain) || n.folded != n.plain && strings.Contains(form, n.folded)
	})
}

// ends reports whether a text ends with the string, or with it and a full stop, in any form.
func (n needle) ends(f *textForms) bool {
	return f.has(func(form string) bool {
		return hasEnd(form, n.plain) || n.folded != n.plain && hasEnd(form, n.folded)
	})
}

func hasEnd(s, suffix string) bool {
	return strings.HasSuffix(s, suffix) || strings.HasSuffix(s, ".") && strings.HasSuffix(s[:len(s)-1], suffix)
}
