package prompt_test

import (
	"os"
	"regexp"
	"testing"

	"sluice/internal/domain/prompt"
)

var example = regexp.MustCompile("(?s)```mustache\n(.*?)```\n```json\n(.*?)```\n```text\n(.*?)```")

// What the manual says a template comes to, it comes to.
func TestManual(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../../docs/prompts.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllStringSubmatch(string(manual), -1)
	if len(examples) < 4 {
		t.Fatalf("the manual has %d examples", len(examples))
	}
	for _, e := range examples {
		tmpl, err := prompt.Parse(e[1])
		if err != nil {
			t.Errorf("%s%v", e[1], err)
			continue
		}
		if got, err := tmpl.Render([]byte(e[2]), nil); err != nil || got != e[3] {
			t.Errorf("%scomes to %q, %v; want %q", e[1], got, err, e[3])
		}
	}
}
