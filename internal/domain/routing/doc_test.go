package routing_test

import (
	"os"
	"strings"
	"testing"

	"sluice/internal/domain/routing"
)

// TestManual parses every example of the manual.
func TestManual(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(manual), "```json\n")[1:]
	if len(examples) < 15 {
		t.Errorf("%d examples", len(examples))
	}
	for _, e := range examples {
		doc, _, _ := strings.Cut(e, "```")
		if _, err := routing.Parse([]byte(doc), routing.Limits{}); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
