package ident_test

import (
	"strings"
	"testing"

	"sluice/internal/ident"
)

func TestMade(t *testing.T) {
	t.Parallel()
	a, b := ident.NewID(), ident.NewID()
	if !ident.ValidID(a) || a >= b {
		t.Errorf("ids do not sort by time: %s %s", a, b)
	}
	seen := map[rune]bool{}
	for range 200 {
		k := ident.NewKey("sk-")
		if len(k) != 35 || !strings.HasPrefix(k, "sk-") || strings.Contains(k, ".") {
			t.Fatalf("key %q", k)
		}
		for _, r := range k[3:] {
			seen[r] = true
		}
	}
	if len(seen) != 62 {
		t.Errorf("keys use %d of 62 characters", len(seen))
	}
	if s := ident.NewSlug("pc"); !ident.ValidSlug(s) {
		t.Errorf("slug %q", s)
	}
}

func TestValidSlug(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"a": true, "open-ai_1.x": true, "": false, "-a": false, "a b": false, "a/b": false, "@a": false, strings.Repeat("a", 255): true, strings.Repeat("a", 256): false} {
		if ident.ValidSlug(s) != want {
			t.Errorf("ValidSlug(%q) = %v", s, !want)
		}
	}
}
