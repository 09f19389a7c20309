package textfold_test

import (
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/textfold"
)

func TestFold_MapsFindingsToTheOriginal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, word, original string }{
		{"plain", "say secret now", "secret", "secret"},
		{"soft hyphens", "say se\u00adcr\u00adet now", "secret", "se\u00adcr\u00adet"},
		{"zero-width signs", "say s\u200be\u200cc\u2060ret now", "secret", "s\u200be\u200cc\u2060ret"},
		{"full width", "say ｓｅｃｒｅｔ now", "secret", "ｓｅｃｒｅｔ"},
		{"Cyrillic look-alikes", "say ѕесrеt now", "secret", "ѕесrеt"},
		{"mathematical letters", "say 𝐬𝐞𝐜𝐫𝐞𝐭 now", "secret", "𝐬𝐞𝐜𝐫𝐞𝐭"},
		{"ligature", "say ﬁre now", "fire", "ﬁre"},
		{"at the end", "say secr\u200bet", "secret", "secr\u200bet"},
		{"strokes", "say s\u0336e\u0336c\u0336ret now", "secret", "s\u0336e\u0336c\u0336ret"},
		{"stacked marks", "say s\u0336\u20d2ecret now", "secret", "s\u0336\u20d2ecret"},
		{"decomposed accents are composed", "u\u0308ber secret", "über", "u\u0308ber"},
		{"accented letters stay", "über Müller secret", "über Müller secret", "über Müller secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := textfold.Fold(c.text)
			at := strings.Index(f.Folded, c.word)
			if at < 0 {
				t.Fatalf("folded %q has no %q", f.Folded, c.word)
			}
			start, end := f.Original(at, at+len(c.word))
			if got := c.text[start:end]; got != c.original {
				t.Errorf("original %q, want %q", got, c.original)
			}
		})
	}
}

func TestFold_NeedsMemoryForChangesOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		runs int
	}{
		"one soft hyphen":      {strings.Repeat("plain text ", 1000) + "se\u00adcret" + strings.Repeat(" more", 1000), 4},
		"full-width letters":   {strings.Repeat("ｓｅｃｒｅｔ", 1000), 2},
		"only invisible signs": {strings.Repeat("\u200b", 1000), 1},
	} {
		f := textfold.Fold(c.text)
		if got := textfold.Runs(&f); got != c.runs {
			t.Errorf("%s: %d runs, want %d", name, got, c.runs)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("se\u00adcret ﬁ ｓ e\u0301")
	f.Add("\xff\xfe")
	f.Add("\u200b")
	f.Add("a\u00ad\u00ad")
	f.Add("\u00adслово ﷺ x\u0301\u200b ｓｅｃ")
	f.Fuzz(func(t *testing.T, s string) {
		got := textfold.Fold(s)
		for i := range len(got.Folded) {
			start, end := got.Original(i, i+1)
			if start < 0 || end < start || end > len(s) {
				t.Fatalf("%q: byte %d comes from [%d, %d)", s, i, start, end)
			}
		}
		if at, end := got.Original(len(got.Folded), len(got.Folded)); at != len(s) || end != len(s) {
			t.Errorf("%q: the end comes from [%d, %d)", s, at, end)
		}
	})
}
