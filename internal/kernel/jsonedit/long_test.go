package jsonedit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/kernel/jsonedit"
)

// Strings are read in steps of 8 and 32 bytes: what stands in one must be seen at every
// place of every step.
func TestEveryByteOfALongStringIsSeen(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"\"", "\\", "\\n", "\\x", "\\u00g0", "\x00", "\x1f", " ", "!", "#", "[", "]", "\x7f", "\x80", "\xff", "ü", "\u2028", "😀"} {
		for before := range 110 {
			for _, after := range []int{0, 1, 7, 31, 70} {
				body := []byte(`{"a":"` + strings.Repeat("x", before) + odd + strings.Repeat("y", after) + `"}`)
				want := json.Valid(body) && utf8.Valid(body)
				if got := jsonedit.Valid(body); got != want {
					t.Fatalf("Valid(%q) = %v, want %v", body, got, want)
				}
			}
		}
	}
}
