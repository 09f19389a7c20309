package ident_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/internal/kernel/ident"
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

func TestNewIDAt(t *testing.T) {
	t.Parallel()
	when := time.Date(2026, 11, 20, 12, 0, 0, 123_456_789, time.UTC)
	a, b := ident.NewIDAt(when), ident.NewIDAt(when.Add(time.Microsecond))
	id, err := uuid.Parse(a)
	if err != nil || id.Version() != 7 || id.Variant() != uuid.RFC4122 || !ident.ValidID(a) {
		t.Fatalf("%q is no id: %v", a, err)
	}
	if sec, ns := id.Time().UnixTime(); sec != when.Unix() || ns != 123_000_000 {
		t.Errorf("it tells %d s and %d ns", sec, ns)
	}
	if a >= b || a == ident.NewIDAt(when) {
		t.Errorf("%s and %s do not sort, or are not fresh", a, b)
	}
}

func BenchmarkNewID(b *testing.B) {
	for b.Loop() {
		ident.NewID()
	}
}

func BenchmarkNewIDAt(b *testing.B) {
	when := time.Now()
	for b.Loop() {
		ident.NewIDAt(when)
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
