package partner_test

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/partner"
)

func TestFragmentsCoverEachPhraseOfAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab é\n😀x")), 1, 3000, -1).Draw(t, "text")
		limit := rapid.IntRange(8, 1200).Draw(t, "limit")
		list := partner.Cut(s, limit)
		covered := 0
		for i, f := range list {
			if n := utf8.RuneCountInString(f.Text); n > limit {
				t.Fatalf("fragment %d has %d characters, limit %d", i, n, limit)
			}
			if s[f.Start:f.Start+len(f.Text)] != f.Text {
				t.Fatalf("fragment %d is not the text at %d", i, f.Start)
			}
			if i > 0 {
				shared := utf8.RuneCountInString(s[f.Start:covered])
				if f.Start > covered || shared < partner.Overlap(limit) {
					t.Fatalf("fragments %d and %d share %d characters, want at least %d", i-1, i, shared, partner.Overlap(limit))
				}
			}
			covered = f.Start + len(f.Text)
		}
		if list != nil && covered != len(s) {
			t.Fatalf("fragments end at %d of %d", covered, len(s))
		}
	})
}

func TestFragmentsEndAtWhitespaceWherePossible(t *testing.T) {
	list := partner.Cut("one two three four five six seven eight", 16)
	for i, f := range list[:len(list)-1] {
		if last := f.Text[len(f.Text)-1]; last != ' ' {
			t.Errorf("fragment %d ends within a word: %q", i, f.Text)
		}
	}
}

func TestBlankTextsHaveNoFragments(t *testing.T) {
	if list := partner.Cut(" \n\t", 10); list != nil {
		t.Errorf("fragments %v, want none", list)
	}
}

func TestDifferenceTurnsOneTextIntoTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"ab", "c", " ", "@", "é", "***", "[X]", "\n"})
		from := join(rapid.SliceOfN(word, 0, 60).Draw(t, "from"))
		to := join(rapid.SliceOfN(word, 0, 60).Draw(t, "to"))
		edits := partner.Difference(from, to)
		if got := apply([]string{from}, edits)[0]; got != to {
			t.Fatalf("%q, want %q; edits %v", got, to, edits)
		}
	})
}

func TestDifferenceOfLongTextsEnds(t *testing.T) {
	from, to := "", ""
	for range 2000 {
		from, to = from+"a b ", to+"c "
	}
	if got := apply([]string{from}, partner.Difference(from, to))[0]; got != to {
		t.Error("the texts differ")
	}
}

func TestDifferenceIsLimitedToTheMaskedWords(t *testing.T) {
	edits := partner.Difference("call 555-0100 or write to a@b.example today", "call [PHONE] or write to [EMAIL] today")
	if len(edits) != 2 || edits[0].With != "[PHONE]" || edits[1].With != "[EMAIL]" {
		t.Errorf("edits %+v, want two", edits)
	}
}

func join(list []string) (s string) {
	for _, item := range list {
		s += item
	}
	return s
}
