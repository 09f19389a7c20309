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

func FuzzFold(f *testing.F) {
	f.Add("se\u00adcret ﬁ ｓ e\u0301")
	f.Add("\xff\xfe")
	f.Fuzz(func(t *testing.T, s string) {
		got := textfold.Fold(s)
		for i := range len(got.Folded) {
			start, end := got.Original(i, i+1)
			if start < 0 || end < start || end > len(s) {
				t.Fatalf("%q: byte %d comes from [%d, %d)", s, i, start, end)
			}
		}
	})
}
