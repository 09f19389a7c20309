package journal_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/kernel/ident"
	"sluice/internal/storage/journal"
)

// A journal whose file with the name is lost, or holds none, is known by its other files:
// under another name what it holds would be counted again.
func TestLostNameIsFoundInTheFiles(t *testing.T) {
	t.Parallel()
	for _, breakFile := range []func(path string) error{os.Remove, func(path string) error { return os.Truncate(path, 0) }} {
		o := small(t.TempDir())
		j, err := start(o)
		if err != nil {
			t.Fatal(err)
		}
		put(t, j, 0, 1)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(o.Dir, "node")
		if err := breakFile(path); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		again := open(t, o)
		if again.ID() != j.ID() || !strings.Contains(log.String(), j.ID()) {
			t.Errorf("named %s, was %s; the log says %s", again.ID(), j.ID(), &log)
		}
		if b, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(b)) != j.ID() {
			t.Errorf("the file says %s, %v", b, err)
		}
	}
}

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

// A directory has a journal as long as one of its files is left, and by none that is not its.
func TestExists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files []string
		is    bool
	}{
		{"none", nil, false},
		{"a file system of its own", []string{"lost+found"}, false},
		{"named", []string{"node", "lock"}, true},
		{"its name lost", []string{"0000000000000007.seg"}, true},
	} {
		dir := t.TempDir()
		for _, f := range c.files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if is, err := journal.Exists(dir); err != nil || is != c.is {
			t.Errorf("%s: %v, %v", c.name, is, err)
		}
	}
	if is, err := journal.Exists(filepath.Join(t.TempDir(), "missing")); err != nil || is {
		t.Errorf("no directory: %v, %v", is, err)
	}
}
