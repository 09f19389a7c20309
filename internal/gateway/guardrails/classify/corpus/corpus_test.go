package corpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/gateway/guardrails/classify/corpus"
)

func TestRead(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "texts.tsv")
	if err := os.WriteFile(name, []byte("en\ta,b\tOne\ttab\nde\t-\tZwei\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := corpus.Read(name)
	if err != nil || len(list) != 2 || !list[0].Is("b") || list[0].Text != "One\ttab" || len(list[1].Labels) != 0 || list[1].Language != "de" {
		t.Errorf("%v %v", list, err)
	}
	if err := os.WriteFile(name, []byte("en\ta\tfine\nbroken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Read(name); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v does not name the line", err)
	}
}
