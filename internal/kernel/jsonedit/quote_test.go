package jsonedit

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\n\r\t\x00\x1f\x7f", "é😀\u2028<&>", "\xff half \xe2\x82", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := Quote(s)
		var std string
		if err := json.Unmarshal(raw, &std); err != nil {
			t.Fatalf("%q is no JSON: %v", raw, err)
		}
		want := strings.ToValidUTF8(s, "\ufffd")
		if decoded, ok := Unquote(raw); !ok || decoded != std {
			t.Errorf("%q came back as %q, encoding/json reads %q", s, decoded, std)
		}
		if strings.ToValidUTF8(s, "") == s && std != s || len([]rune(std)) < len([]rune(want)) {
			t.Errorf("%q came back as %q", s, std)
		}
	})
}
