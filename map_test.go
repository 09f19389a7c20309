package sluice

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestArchitecture_MapListsEveryPackage compares the map of ARCHITECTURE.md with the folders: the map
// must contain the name of each package. Dialects and test packages are exempt.
func TestArchitecture_MapListsEveryPackage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n## The map\n")
	_, rest, _ = strings.Cut(rest, "\n```\n")
	drawn, _, closed := strings.Cut(rest, "\n```\n")
	if !closed {
		t.Fatal("ARCHITECTURE.md has no map")
	}
	shown := map[string]bool{}
	for _, word := range regexp.MustCompile(`[a-z0-9]+`).FindAllString(strings.ToLower(drawn), -1) {
		shown[word] = true
	}
	for _, f := range readTree(t) {
		name := f.path[strings.LastIndexByte(f.path, '/')+1:]
		switch {
		case !strings.HasPrefix(f.path, "internal/"), strings.HasPrefix(f.path, "internal/dialect/"),
			strings.HasPrefix(f.path, "internal/test/"), strings.HasSuffix(name, "test"):
		case !shown[name]:
			t.Errorf("%s is not on the map of ARCHITECTURE.md", f.path)
		}
	}
}
