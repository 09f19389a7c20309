package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/ident"
	"sluice/internal/journal"
)

func TestJournalKeepsItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var names []string
	for range 2 {
		j, err := journal.Open(small(dir))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, j.ID())
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !ident.ValidID(names[0]) || names[0] != names[1] {
		t.Errorf("names %q", names)
	}
	if other := open(t, small(t.TempDir())); other.ID() == names[0] {
		t.Error("two journals have one name")
	}
	if err := os.WriteFile(filepath.Join(dir, "node"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(small(dir)); err == nil {
		t.Error("opened without a name")
	}
}
