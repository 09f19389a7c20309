package secrets

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A cue counts if it is a word, or the part of a word, in the bytes before an offset.
func TestCueReader_FindsTheWordsBeforeAnOffset(t *testing.T) {
	t.Parallel()
	parts := []string{"key", "Token", "AWS", "monkey", "schlüssel", "é", "_", "-", " ", "a", strings.Repeat("x", 14), strings.Repeat(".", 50)}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 40).Draw(rt, "parts"), "")
		r := cueReader{text: text}
		for i := 0; i <= len(text); i += rapid.IntRange(1, 20).Draw(rt, "step") {
			var want, got []string
			isSeparator := func(r rune) bool { return r < 0x80 && !isLetter(byte(r)) }
			for _, word := range strings.FieldsFunc(text[max(0, i-cueBytes):i], isSeparator) {
				if cueWords[strings.ToLower(word)] != nil {
					want = append(want, strings.ToLower(word))
				}
			}
			r.before(i, func(c *cue) bool { got = append(got, c.word); return true })
			if slices.Reverse(got); !slices.Equal(got, want) {
				rt.Fatalf("%q, %d: %q, want %q", text, i, got, want)
			}
		}
	})
}

// The end of a sequence is the same whatever was read before.
func TestClassRuns_FindsTheEndOfASequence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[aG0_/ -]{0,60}`).Draw(rt, "text")
		r := classRuns{text: text}
		for range 20 {
			class := rapid.IntRange(0, classCount-1).Draw(rt, "class")
			i, limit := rapid.IntRange(0, len(text)).Draw(rt, "offset"), rapid.IntRange(1, 30).Draw(rt, "limit")
			want := i
			for want < min(len(text), i+limit) && classSets[class][text[want]] {
				want++
			}
			if got := r.end(class, i, limit); got != want {
				rt.Fatalf("%q, class %d, %d, %d: %d, want %d", text, class, i, limit, got, want)
			}
		}
	})
}
