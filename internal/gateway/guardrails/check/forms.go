package check

import (
	"strings"
	"sync"

	"sluice/internal/gateway/guardrails/textfold"
)

// textForms are the forms in which a text is compared: the original, the one without invisible signs,
// and the one whose look-alike letters are Latin. Folded forms are made when they are needed. It is safe
// for concurrent use.
type textForms struct {
	original string
	full     func() *textfold.Text
	signs    func() *textfold.Text
}

func newTextForms(s string) *textForms {
	return &textForms{
		original: s,
		full:     sync.OnceValue(func() *textfold.Text { t := textfold.Fold(s); return &t }),
		signs:    sync.OnceValue(func() *textfold.Text { t := textfold.FoldSigns(s); return &t }),
	}
}

// folded returns the folded forms that differ from the original and from each other.
func (f *textForms) folded() []*textfold.Text {
	full := f.full()
	if full.Same() {
		return nil
	}
	if signs := f.signs(); !signs.Same() && signs.Folded != full.Folded {
		return []*textfold.Text{signs, full}
	}
	return []*textfold.Text{full}
}

// sharedTexts is what the checks of one input compute once from its texts.
type sharedTexts struct {
	text  func() string
	all   func() *textForms   // of the complete text
	parts func() []*textForms // of each text
}

func newSharedTexts(in *Input) *sharedTexts {
	s := &sharedTexts{text: sync.OnceValue(in.join)}
	s.parts = sync.OnceValue(func() []*textForms {
		parts := make([]*textForms, len(in.Texts))
		for i, text := range in.Texts {
			parts[i] = newTextForms(text)
		}
		return parts
	})
	s.all = sync.OnceValue(func() *textForms {
		if parts := s.parts(); len(parts) == 1 {
			return parts[0]
		}
		return newTextForms(s.text())
	})
	return s
}

// Share lets checks that judge this input at the same time share what they compute from its texts. Call
// it before they run, and again if Texts change. Without it, each check computes for itself.
func (in *Input) Share() { in.shared = newSharedTexts(in) }

// forms returns the forms of the complete text.
func (in *Input) forms() *textForms {
	if in.shared != nil {
		return in.shared.all()
	}
	return newTextForms(in.Text())
}

// formsOf returns the forms of one of the texts.
func (in *Input) formsOf(i int) *textForms {
	if in.shared != nil {
		return in.shared.parts()[i]
	}
	return newTextForms(in.Texts[i])
}

// needle is a string that is searched in the forms of a text. The fully folded form suffices next to
// the original: where the string is in a text without invisible signs, its folded form is there.
type needle struct{ plain, folded string }

func newNeedle(s string) needle {
	f := textfold.Fold(s)
	return needle{s, f.Folded}
}

// isIn reports whether a text contains the string in any form.
func (n needle) isIn(f *textForms) bool {
	return strings.Contains(f.original, n.plain) || n.folds(f) && strings.Contains(f.full().Folded, n.folded)
}

// ends reports whether a text ends with the string, or with it and a full stop, in any form.
func (n needle) ends(f *textForms) bool {
	return hasEnd(f.original, n.plain) || n.folds(f) && hasEnd(f.full().Folded, n.folded)
}

// folds reports whether the folded forms of text and string may match although the original ones do not.
func (n needle) folds(f *textForms) bool { return n.folded != n.plain || !f.full().Same() }

func hasEnd(s, suffix string) bool {
	return strings.HasSuffix(s, suffix) || strings.HasSuffix(s, ".") && strings.HasSuffix(s[:len(s)-1], suffix)
}
